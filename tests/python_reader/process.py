"""One process of a run: its file, and its live file if the process did not end in order."""

import struct

from bits import FormatError, take, unpack
from blocks import ANCHORS, END, PROCESS, RECORDS, SCHEMA, SITES, STREAM, STRINGS, blocks, integer_of, tags, text_of
from schema import Schema, Value

FILE_MAGIC = b"\xb1TUMIT\r\n"
LIVE_MAGIC = b"\xb1TLIVE\r\n"
SLOT_HEAD = 64
DROPPED, WIDE_TIMESTAMP = 0xFFFE, 0xFFFF
MAX_PROCESSES = 1 << 16


def number_of(stream):
    """Returns the process that a stream number encodes, or None if it is an ordinary stream."""
    number = 0xFFFFFFFF - stream
    return number if number < MAX_PROCESSES else None


def processes_of(path, warn):
    """Returns the processes of a file: one, or several if the file is the result of a merge."""
    first = Process(path, warn)
    if not first.others and integer_of(first.tags[15] if 15 in first.tags else bytes(8)) != 1:
        return [first]
    parts = {0: first, **first.others}
    streams, blocks = first.streams, first.blocks
    first.streams, first.blocks = {}, {}
    for stream in set(streams) | set(blocks):
        tag = streams.get(stream, {}).get(24)
        owner = parts.get(integer_of(tag)) if tag is not None else None
        if owner is None:
            warn("no process is known for stream %d" % stream)
            continue
        owner.streams[stream] = streams[stream]
        if stream in blocks:
            owner.blocks[stream] = blocks[stream]
    return [parts[number] for number in sorted(parts)]


class Process:
    """The contents of one file and its live file."""

    def __init__(self, path, warn, part=False):
        self.path, self.warn = path, warn
        self.others, self.pieces = {}, []
        self.tags, self.streams, self.schemas = {}, {}, []
        self.strings, self.sites, self.anchors = {}, {}, []
        self.blocks, self.end, self.counters = {}, None, None
        if part:
            return
        # The live file is read first. Records that leave a slot meanwhile are then in the file.
        live_data = read(path[: -len(".tmt")] + ".live")
        data = read(path)
        pending = []
        if data is not None and data[:8] != FILE_MAGIC:
            warn("not a Tumit run file")
        elif data is not None:
            version = unpack("<H", data, 8)[0]
            if version > 1:
                raise SystemExit("%s: unknown format version %d" % (path, version))
            for block in blocks(data, warn):
                if block.kind == RECORDS:
                    pending.append(block)
                else:
                    self.add_block(block.kind, block.stream, block)
        for block in pending:
            self.blocks.setdefault(block.stream, {}).setdefault(block.sequence, block)
        if self.end is None:
            live_path = self.tags.get(13)
            if live_path is not None:
                live_data = read(text_of(live_path))
            warn("the process did not end in order")
            if live_data is not None and live_data[:8] == LIVE_MAGIC:
                self.add_live_file(live_data)

    def add_block(self, kind, stream, block):
        number = number_of(stream)
        if number:
            if number not in self.others:
                self.others[number] = Process(self.path, self.warn, part=True)
            return self.others[number].add_block(kind, 0xFFFFFFFF, block)
        try:
            self.add_payload(kind, stream, block.payload())
        except FormatError as error:
            self.warn("a block of kind %d: %s" % (kind, error))

    def add_payload(self, kind, stream, payload):
        """Decodes any block except blocks of records."""
        if kind == PROCESS:
            self.tags.update(tags(payload))
        elif kind == STREAM:
            self.streams.setdefault(stream, {}).update(tags(payload))
        elif kind == END:
            self.end = dict(tags(payload))
        elif kind == SCHEMA:
            base, ids, at = unpack("<II", payload, 0)
            if all(base != other for other, _, _ in self.schemas):
                self.schemas.append((base, ids, Schema(payload[at:])))
        elif kind in (STRINGS, SITES):
            at = 0
            while at < len(payload):
                number, line = 0, None
                if kind == STRINGS:
                    number, length, at = unpack("<II", payload, at)
                else:
                    number, line, length, at = unpack("<III", payload, at)
                text, at = take(payload, at, length)
                if kind == STRINGS:
                    self.strings.setdefault(number, text_of(text))
                else:
                    self.sites.setdefault(number, (text_of(text), line))
        elif kind == ANCHORS:
            at = 0
            while at < len(payload):
                ticks, monotonic, _, _, at = unpack("<QQQQ", payload, at)
                self.anchors.append((ticks, monotonic))

    def add_live_file(self, data):
        """Adds data that was not yet written: names, and at most one block of each slot."""
        slot_bytes, slots, log, _, first_slot, complete = unpack("<IIIIQQ", data, 32)[:6]
        if self.tags.get(1, data[16:32]) != data[16:32]:
            self.warn("the live file is of another process")
            return
        at, end = log, log + complete
        while at < end:
            kind, stream, _, length, at = unpack("<IIII", data, at)
            payload, at = take(data, at, length)
            try:
                self.add_payload(kind, stream, payload)
            except FormatError as error:
                self.warn("the log of names: %s" % error)
                break
            at = (at + 7) // 8 * 8
        overwritten = unpack("<Q", data, 72)[0]
        self.counters = overwritten + sum(struct.unpack_from("<256Q", data, 2048))
        slots_found = []
        for at in range(first_slot, first_slot + slots * slot_bytes, slot_bytes):
            slots_found.append((at, slot_bytes))
            if unpack("<I", data, at + 60)[0] == 4:  # divided
                slots_found += [(at + part, 4096) for part in range(4096, slot_bytes, 4096)]
        for at, size in slots_found:
            (used, records, last, first, flushed, flushed_records, written, flushed_last, sequence, _, stream, owned,
             at) = unpack("<IIQQIHHQQQII", data, at)  # fmt: skip
            if owned == 3 and flushed_last == overwritten:
                self.counters += records - flushed_records
            if owned not in (1, 2):
                continue
            if flushed > used or used > size - SLOT_HEAD:
                self.warn("an impossible slot")
                continue
            begin, timestamp, sequence = flushed, flushed_last if written else first, sequence + written
            written_blocks = self.blocks.get(stream, {})
            while sequence in written_blocks:
                begin += written_blocks[sequence].raw_bytes
                timestamp = written_blocks[sequence].last
                sequence += 1
            if begin < used:
                self.pieces.append((stream, sequence, timestamp, last, bytes(data[at + begin : at + used])))

    def type_of(self, number):
        for base, ids, schema in self.schemas:
            if base <= number < base + min(ids, len(schema.records)):
                return schema, schema.records[number - base]
        raise FormatError("record id %d is in no schema" % number)

    def decode(self, payload, timestamp, limit=None):
        """Yields the records of a payload: (ticks, name, level, source, fields, truncated)."""
        at, truncated = 0, False
        while at < len(payload):
            number, delta, at = unpack("<HI", payload, at)
            if number == WIDE_TIMESTAMP:
                timestamp, at = unpack("<Q", payload, at)
                continue
            timestamp += delta
            if limit is not None and timestamp > limit:
                raise FormatError("an impossible timestamp")
            if number == DROPPED:
                count, _, _, _, cause, at = unpack("<QQQQI", payload, at)
                truncated = (count, cause) == (0, 64)
                continue
            schema, (name, level, located, fields) = self.type_of(number)
            source = None
            if located:
                site, at = unpack("<I", payload, at)
                source = self.sites.get(site)
            value, values = Value(self, schema), {}
            for field, kind in fields:
                values[field], at = value.field(kind, payload, at)
            yield timestamp, name, level, source, values, truncated
            truncated = False

    def records(self):
        """Yields all records: (stream, ticks, name, level, source, fields, truncated)."""
        for stream in sorted(set(self.blocks) | {piece[0] for piece in self.pieces}):
            expected = 0
            for sequence, block in sorted(self.blocks.get(stream, {}).items()):
                if sequence != expected and not block.flags & 1:
                    self.warn("%d blocks of stream %d are missing" % (sequence - expected, stream))
                if block.flags & 2:
                    self.warn("records of stream %d were missing in the source of this file" % stream)
                expected = sequence + 1
                try:
                    for record in self.decode(block.payload(), block.first):
                        yield (stream,) + record
                except FormatError as error:
                    self.warn("block %d of stream %d: %s" % (sequence, stream, error))
            for _, _, first, last, payload in sorted(piece for piece in self.pieces if piece[0] == stream):
                try:
                    for record in self.decode(payload, first, last):
                        yield (stream,) + record
                except FormatError as error:
                    self.warn("a slot of stream %d: %s" % (stream, error))

    def dropped(self):
        """Number of records that the process dropped."""
        if self.end is not None:
            return integer_of(self.end[31]) if 31 in self.end else 0
        if self.counters is not None:
            return self.counters
        return sum(max(block.dropped for block in stream.values()) for stream in self.blocks.values())

    def integer(self, tag):
        return integer_of(self.tags[tag]) if tag in self.tags else None

    def clock(self):
        return self.integer(7), self.tags.get(9, self.path)


def read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None
