"""Blocks and their checksum. Bytes between valid blocks are damage."""

from bits import Bad, take, unpack
from columns import columns
from lz4 import lz4

BLOCK_MAGIC = b"\xb1TMTBLK\n"
PREAMBLE = 16
CODECS = {0: lambda data, raw_bytes: data, 1: lz4, 2: columns}
MAX_PAYLOAD = 1 << 24
PROCESS, SCHEMA, STREAM, STRINGS, SITES, RECORDS, SYNC, ANCHORS, END = range(1, 10)


def crc_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)  # 1EDC6F41 with reversed bits
        table.append(byte)
    return table


CRC_TABLE = crc_table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = CRC_TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


class Block:
    """A header and the stored payload."""

    def __init__(self, data, at):
        if data[at : at + 8] != BLOCK_MAGIC:
            raise Bad("no block at byte %d" % at)
        form = "<IBBBBIIQIIQQQ"
        (crc, self.kind, self.codec, self.flags, _, self.stream, self.count, self.sequence, self.raw_bytes, stored_bytes, self.dropped,
         self.first, self.last, start) = unpack(form, data, at + 8)  # fmt: skip
        if self.raw_bytes > MAX_PAYLOAD or stored_bytes > MAX_PAYLOAD or (self.codec == 0 and stored_bytes != self.raw_bytes):
            raise Bad("a block of impossible size at byte %d" % at)
        self.stored, end = take(data, start, stored_bytes)
        if crc32c(data[at : at + 8] + bytes(4) + data[at + 12 : start] + self.stored) != crc:
            raise Bad("a checksum is wrong at byte %d" % at)
        self.end = (end + 7) // 8 * 8

    def payload(self):
        if self.codec not in CODECS:
            raise Bad("unknown codec %d" % self.codec)
        return CODECS[self.codec](self.stored, self.raw_bytes)


def blocks(data, complain):
    """The valid blocks of a file. Reports the damage between them."""
    at, damage = PREAMBLE, None
    while at < len(data):
        try:
            block = Block(data, at)
        except Bad as error:
            if damage is None:
                damage = (at, error)
            at = data.find(BLOCK_MAGIC, at + 1)
            if at < 0:
                break
            continue
        if damage is not None:
            complain("%d bytes of damage: %s" % (at - damage[0], damage[1]))
            damage = None
        yield block
        at = block.end
    if damage is not None and any(data[damage[0] :]):
        complain("%d bytes of damage: %s" % (len(data) - damage[0], damage[1]))


def tags(payload):
    """The tagged fields of a payload."""
    at = 0
    while at < len(payload):
        tag, length, at = unpack("<HI", payload, at)
        value, at = take(payload, at, length)
        yield tag, value


def text_of(data):
    return bytes(data).decode("utf-8", "replace")


def integer_of(data):
    return unpack("<Q", data, 0)[0]
