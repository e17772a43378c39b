"""Unpacks blocks whose records are stored by columns."""

import struct

from bits import FormatError, take, unpack
from lz4 import lz4

FORMS = ["<B", "<H", "<I", "<Q"]
ONE, MANY, COUNTED = range(3)


def columns(data, raw_bytes):
    """Returns the payload: the records as rows."""
    types, at = types_of(data)
    count, at = unpack("<I", data, at)
    if 6 * count > raw_bytes:
        raise FormatError("%d records in %d bytes" % (count, raw_bytes))
    order, at = numbers(data, at, count, 1)
    if any(index >= len(types) for index in order):
        raise FormatError("a record without a type")
    records_of_type = []
    for index, (number, parts) in enumerate(types):
        records = order.count(index)
        pieces, at = type_columns(data, at, number, parts, records, raw_bytes)
        records_of_type.append(zip(*pieces))
    if at != len(data):
        raise FormatError("bytes after the columns")
    payload = b"".join(b"".join(next(records_of_type[index])) for index in order)
    if len(payload) != raw_bytes:
        raise FormatError("columns of %d bytes where %d were expected" % (len(payload), raw_bytes))
    return payload


def types_of(data):
    """Reads the record types: [(id, [(form, width, count)])]."""
    types = []
    count, at = unpack("<H", data, 0)
    for _ in range(count):
        number, parts, at = unpack("<HH", data, at)
        layout = []
        for _ in range(parts):
            code, at = unpack("<B", data, at)
            form, width, length = code // 4, code % 4, 1
            if form > COUNTED:
                raise FormatError("a part with the unknown form %d" % form)
            if form == MANY:
                length, at = unpack("<I", data, at)
            layout.append((form, width, length))
        types.append((number, layout))
    return types, at


def type_columns(data, at, number, parts, records, raw_bytes):
    """Returns for each part of a type the bytes of each record. The first part is id and delta."""
    deltas, at = numbers(data, at, records, 2)
    pieces = [[struct.pack("<HI", number, delta) for delta in deltas]]
    for form, width, length in parts:
        counts = [length] * records
        if form == COUNTED:
            counts, at = numbers(data, at, records, 1)
            pieces.append([struct.pack("<H", count) for count in counts])
        total = sum(counts)
        if total << width > raw_bytes:
            raise FormatError("%d values in %d bytes" % (total, raw_bytes))
        if form != ONE and width == 0:
            values, at = byte_column(data, at, total)
        else:
            values, at = numbers(data, at, total, width)
            values = struct.pack("<%d%s" % (total, FORMS[width][1]), *values)
        start, piece = 0, []
        for count in counts:
            piece.append(values[start : start + (count << width)])
            start += count << width
        pieces.append(piece)
    return pieces, at


def byte_column(data, at, count):
    if count == 0:
        return b"", at
    method, at = unpack("<B", data, at)
    if method > 1:
        raise FormatError("bytes with the unknown method %d" % method)
    if method == 0:
        return take(data, at, count)
    size, at = unpack("<I", data, at)
    packed, at = take(data, at, size)
    return lz4(packed, count), at


def numbers(data, at, count, width, dictionary=True):
    """Reads a column of numbers of 2^width bytes each."""
    if count == 0:
        return [], at
    method, at = unpack("<B", data, at)
    if method == 0:
        plain, at = take(data, at, count << width)
        return list(struct.unpack("<%d%s" % (count, FORMS[width][1]), plain)), at
    if method == 1:
        return groups(data, at, count, width)
    if method != 2 or not dictionary or width == 0:
        raise FormatError("numbers with the unknown method %d" % method)
    size, at = unpack("<H", data, at)
    if not 0 < size <= count:
        raise FormatError("a dictionary of %d entries" % size)
    entries, at = numbers(data, at, size, width, dictionary=False)
    indexes, at = numbers(data, at, count, 1, dictionary=False)
    if any(index >= size for index in indexes):
        raise FormatError("an index outside its dictionary")
    return [entries[index] for index in indexes], at


def groups(data, at, count, width):
    """Reads numbers in groups of at most 128, which have the same number of bits."""
    values, previous, mask = [], 0, (1 << (8 << width)) - 1
    while len(values) < count:
        size = min(128, count - len(values))
        head, at = unpack("<B", data, at)
        bits, differences = head & 127, head & 128
        if bits > 64:
            raise FormatError("numbers of %d bits" % bits)
        base, at = varint(data, at)
        exceptions, at = unpack("<B", data, at)
        packed, at = take(data, at, (size * bits + 7) // 8)
        packed = int.from_bytes(packed, "little")
        group = [packed >> index * bits & (1 << bits) - 1 for index in range(size)]
        for _ in range(exceptions):
            index, at = unpack("<B", data, at)
            if index >= size:
                raise FormatError("an exception outside its group")
            group[index], at = varint(data, at)
        for value in group:
            value += base + (previous if differences else 0)
            previous = value & (1 << 64) - 1
            values.append(value & mask)
    return values, at


def varint(data, at):
    """Reads a signed number of variable length."""
    value = 0
    for index in range(10):
        byte, at = unpack("<B", data, at)
        value |= (byte & 127) << 7 * index
        if byte < 128:
            return (value >> 1) ^ -(value & 1), at
    raise FormatError("a number of more than ten bytes")
