"""Reads numbers and bytes from data that may be too short."""

import struct


class Bad(Exception):
    """Bytes that contradict FORMAT.md."""


def unpack(form, data, at):
    """The values at an offset, and the offset after them."""
    size = struct.calcsize(form)
    if at + size > len(data):
        raise Bad("cut short at byte %d" % at)
    return struct.unpack_from(form, data, at) + (at + size,)


def take(data, at, size):
    """The `size` bytes at an offset, and the offset after them."""
    if size > len(data) - at:
        raise Bad("cut short at byte %d" % at)
    return data[at : at + size], at + size
