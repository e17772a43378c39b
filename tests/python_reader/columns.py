"""Unpacks payloads that were packed by columns."""

import struct

from bits import Bad, take, unpack
from lz4 import lz4

FORMS = ["<B", "<H", "<I", "<Q"]
ONE, MANY, COUNTED = range(3)


def columns(data, raw_bytes):
    """The payload before it was packed by columns."""
    types, at = types_of(data)
    count, at = unpack("<I", data, at)
    if 6 * count > raw_bytes:
        raise Bad("%d records in %d bytes" % (count, raw_bytes))
    order, at = numbers(data, at, count, 1)
    if any(place >= len(types) for place in order):
        raise Bad("a record of no type")
    makers = []
    for place, (number, parts) in enumerate(types):
        records = order.count(place)
        pieces, at = type_columns(data, at, number, parts, records, raw_bytes)
        makers.append(zip(*pieces))
    if at != len(data):
        raise Bad("bytes behind the columns")
    payload = b"".join(b"".join(next(makers[place])) for place in order)
    if len(payload) != raw_bytes:
        raise Bad("columns of %d bytes where %d were expected" % (len(payload), raw_bytes))
    return payload


def types_of(data):
    """The types: (id, [(form, width, count)])."""
    types = []
    count, at = unpack("<H", data, 0)
    for _ in range(count):
        number, parts, at = unpack("<HH", data, at)
        layout = []
        for _ in range(parts):
            code, at = unpack("<B", data, at)
            form, width, many = code // 4, code % 4, 1
            if form > COUNTED:
                raise Bad("a part of form %d" % form)
            if form == MANY:
                many, at = unpack("<I", data, at)
            layout.append((form, width, many))
        types.append((number, layout))
    return types, at


def type_columns(data, at, number, parts, records, raw_bytes):
    """The bytes of each part of a type in each record. The first part is the id and the delta."""
    deltas, at = numbers(data, at, records, 2)
    pieces = [[struct.pack("<HI", number, delta) for delta in deltas]]
    for form, width, many in parts:
        counts = [many] * records
        if form == COUNTED:
            counts, at = numbers(data, at, records, 1)
            pieces.append([struct.pack("<H", count) for count in counts])
        total = sum(counts)
        if total << width > raw_bytes:
            raise Bad("%d values in %d bytes" % (total, raw_bytes))
        if form != ONE and width == 0:
            values, at = byte_column(data, at, total)
        else:
            values, at = numbers(data, at, total, width)
            values = struct.pack("<%d%s" % (total, FORMS[width][1]), *values)
        ends, piece = 0, []
        for count in counts:
            piece.append(values[ends : ends + (count << width)])
            ends += count << width
        pieces.append(piece)
    return pieces, at


def byte_column(data, at, count):
    if count == 0:
        return b"", at
    method, at = unpack("<B", data, at)
    if method > 1:
        raise Bad("bytes by method %d" % method)
    if method == 0:
        return take(data, at, count)
    size, at = unpack("<I", data, at)
    packed, at = take(data, at, size)
    return lz4(packed, count), at


def numbers(data, at, count, width, dictionary=True):
    """A column of numbers of 2^width bytes each."""
    if count == 0:
        return [], at
    method, at = unpack("<B", data, at)
    if method == 0:
        plain, at = take(data, at, count << width)
        return list(struct.unpack("<%d%s" % (count, FORMS[width][1]), plain)), at
    if method == 1:
        return groups(data, at, count, width)
    if method != 2 or not dictionary or width == 0:
        raise Bad("numbers by method %d" % method)
    size, at = unpack("<H", data, at)
    if not 0 < size <= count:
        raise Bad("a dictionary of %d entries" % size)
    entries, at = numbers(data, at, size, width, dictionary=False)
    places, at = numbers(data, at, count, 1, dictionary=False)
    if any(place >= size for place in places):
        raise Bad("no such entry of a dictionary")
    return [entries[place] for place in places], at


def groups(data, at, count, width):
    values, previous, mask = [], 0, (1 << (8 << width)) - 1
    while len(values) < count:
        size = min(128, count - len(values))
        head, at = unpack("<B", data, at)
        bits, differences = head & 127, head & 128
        if bits > 64:
            raise Bad("numbers of %d bits" % bits)
        base, at = varint(data, at)
        exceptions, at = unpack("<B", data, at)
        packed, at = take(data, at, (size * bits + 7) // 8)
        packed = int.from_bytes(packed, "little")
        group = [packed >> place * bits & (1 << bits) - 1 for place in range(size)]
        for _ in range(exceptions):
            place, at = unpack("<B", data, at)
            if place >= size:
                raise Bad("an exception outside its group")
            group[place], at = varint(data, at)
        for value in group:
            value += base + (previous if differences else 0)
            previous = value & (1 << 64) - 1
            values.append(value & mask)
    return values, at


def varint(data, at):
    """A signed number."""
    value = 0
    for place in range(10):
        byte, at = unpack("<B", data, at)
        value |= (byte & 127) << 7 * place
        if byte < 128:
            return (value >> 1) ^ -(value & 1), at
    raise Bad("a number of more than ten bytes")
