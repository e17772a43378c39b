"""LZ4 blocks."""

from bits import FormatError, take, unpack


def lz4_length(data, at, nibble):
    """Reads a length: four bits of the token, and if they are 15, bytes until one is below 255."""
    length = nibble
    while nibble == 15:
        byte, at = unpack("<B", data, at)
        length += byte
        if byte < 255:
            break
    return length, at


def lz4(data, raw_bytes):
    """Unpacks an LZ4 block.

    A sequence is a token, literals, and a copy of earlier output. The last one has no copy.
    """
    out, at = bytearray(), 0
    while True:
        token, at = unpack("<B", data, at)
        literals, at = lz4_length(data, at, token >> 4)
        piece, at = take(data, at, literals)
        out += piece
        if at == len(data):
            break
        distance, at = unpack("<H", data, at)
        length, at = lz4_length(data, at, token & 15)
        length += 4
        if not 0 < distance <= len(out) or len(out) + length > raw_bytes:
            raise FormatError("impossible LZ4 block")
        while length > 0:
            # The source of a copy may overlap its result.
            piece = out[len(out) - distance :][:length]
            out += piece
            length -= len(piece)
    if len(out) != raw_bytes:
        raise FormatError("an LZ4 block of %d bytes where %d were expected" % (len(out), raw_bytes))
    return bytes(out)
