"""The schema of a spec, and the values of its records' fields."""

from bits import FormatError, take, unpack
from blocks import text_of

# The formats of scalars for `struct`, by number. The constants are the scalars that need more code.
NUMBERS = ["<B", "<H", "<I", "<Q", "<b", "<h", "<i", "<q", "<f", "<d", "<B", "<Q", "<Q"]
F32, BOOL, TIMESTAMP, POINTER, ENUM, INTERNED, STRING, BYTES = 8, 10, 11, 12, 13, 14, 15, 16


class Schema:
    """Record types by number: (name, level, located, fields)."""

    def __init__(self, data):
        self.data, self.at = data, 0
        self.version = self.number("<I")
        if self.version not in (1, 2):
            raise FormatError("schema version %d" % self.version)
        self.name = self.text()
        if self.version > 1:
            self.number("<I")
        levels = self.list(lambda: (self.text(), self.number("<B"))[0])
        self.enums = self.list(self.enum)
        self.records = [(name, levels[level], located, fields) for name, level, located, fields in self.list(self.record)]

    def number(self, form):
        value, self.at = unpack(form, self.data, self.at)
        return value

    def text(self):
        length = self.number("<Q")
        data, self.at = take(self.data, self.at, length)
        return text_of(data)

    def list(self, item):
        count = self.number("<Q")
        if count > len(self.data):
            raise FormatError("a list of %d items" % count)
        return [item() for _ in range(count)]

    def enum(self):
        self.text()
        if self.version == 1:
            return dict(enumerate(self.list(self.text)))
        values = self.list(lambda: (self.text(), self.number("<H")))
        return {number: name for name, number in values}

    def record(self):
        name, level, kind, located = self.text(), self.number("<I"), self.number("<I"), self.number("<B")
        return name, level, located != 0, self.list(lambda: (self.text(), self.type()))

    def type(self):
        """Reads a type: (count, scalar). The count is None (one value), a number, or `counted`."""
        kind = self.number("<I")
        if kind > 2:
            raise FormatError("a type of the unknown kind %d" % kind)
        scalar = self.scalar()
        return ([None, "counted"][kind == 2] if kind != 1 else self.number("<I")), scalar

    def scalar(self):
        """Reads a scalar type: (number, index of the enum, format of the enum)."""
        number = self.number("<I")
        if number > BYTES:
            raise FormatError("a scalar of the unknown type %d" % number)
        if number != ENUM:
            return number, None, None
        enum = self.number("<I")
        return number, enum, "<H" if self.number("<B") else "<B"


class Value:
    """Reads values, and converts them as `tumit dump` does."""

    def __init__(self, process, schema):
        self.process, self.schema = process, schema

    def field(self, kind, data, at):
        count, scalar = kind
        if count is None:
            return self.scalar(scalar, data, at)
        if count == "counted":
            count, at = unpack("<H", data, at)
        items = []
        for _ in range(count):
            item, at = self.scalar(scalar, data, at)
            items.append(item)
        return items, at

    def scalar(self, scalar, data, at):
        number, enum, form = scalar
        if number < len(NUMBERS):
            value, at = unpack(NUMBERS[number], data, at)
            if number == BOOL:
                value = value != 0
            elif number == TIMESTAMP:
                value = Timestamp(value)
            elif number == POINTER:
                value = "%#x" % value
            elif number == F32:
                value = Single(value)
            return value, at
        if number == ENUM:
            value, at = unpack(form, data, at)
            return self.schema.enums[enum].get(value, value), at
        if number == INTERNED:
            value, at = unpack("<I", data, at)
            return self.process.strings.get(value, "?") if value else "", at
        length, at = unpack("<H", data, at)
        value, at = take(data, at, length)
        return (text_of(value) if number == STRING else value.hex()), at


class Timestamp(int):
    """A field with ticks of the local clock."""


class Single(float):
    """An f32."""
