"""Reads values from bytes and checks that there are enough."""

import struct


class FormatError(Exception):
    """The bytes do not comply with FORMAT.md."""


def unpack(form, data, at):
    """Returns the values at an offset, and the offset after them."""
    size = struct.calcsize(form)
    if at + size > len(data):
        raise FormatError("cut short at byte %d" % at)
    return struct.unpack_from(form, data, at) + (at + size,)


def take(data, at, size):
    """Returns `size` bytes at an offset, and the offset after them."""
    if size > len(data) - at:
        raise FormatError("cut short at byte %d" % at)
    return data[at : at + size], at + size
