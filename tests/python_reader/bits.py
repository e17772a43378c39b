"""Bytes that may be too few."""

import struct


class Bad(Exception):
    """Bytes that are not as the page says."""


def unpack(form, data, at):
    """The values at an offset, and the offset behind them."""
    size = struct.calcsize(form)
    if at + size > len(data):
        raise Bad("cut short at byte %d" % at)
    return struct.unpack_from(form, data, at) + (at + size,)


def take(data, at, size):
    """So many bytes at an offset, and the offset behind them."""
    if size > len(data) - at:
        raise Bad("cut short at byte %d" % at)
    return data[at : at + size], at + size
