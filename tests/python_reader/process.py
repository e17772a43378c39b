"""One process of a run: its file, and its live file if the process did not end in order."""

import struct

from bits import Bad, take, unpack
from blocks import ANCHORS, END, PROCESS, RECORDS, SCHEMA, SITES, STREAM, STRINGS, blocks, integer_of, tags, text_of
from schema import Schema, Value

FILE_MAGIC = b"\xb1TUMIT\r\n"
LIVE_MAGIC = b"\xb1TLIVE\r\n"
SLOT_HEAD = 64
LOST, WIDE_DATE = 0xFFFE, 0xFFFF


MOST_PROCESSES = 1 << 16


def number_of(stream):
    """The number of the process whose block has this stream number, or None for the number of a stream."""
    number = 0xFFFFFFFF - stream
    return number if number < MOST_PROCESSES else None


def processes_of(path, complain):
    """The process of a file, or all processes of a file of several."""
    first = Process(path, complain)
    if not first.other_processes and integer_of(first.tags[15] if 15 in first.tags else bytes(8)) != 1:
        return [first]
    parts = {0: first, **first.other_processes}
    streams, blocks = first.streams, first.blocks
    first.streams, first.blocks = {}, {}
    for stream in set(streams) | set(blocks):
        tag = streams.get(stream, {}).get(24)
        owner = parts.get(integer_of(tag)) if tag is not None else None
        if owner is None:
            complain("nothing says which process stream %d is of" % stream)
            continue
        owner.streams[stream] = streams[stream]
        if stream in blocks:
            owner.blocks[stream] = blocks[stream]
    return [parts[number] for number in sorted(parts)]


class Process:
    """The contents of a process file and of its live file."""

    def __init__(self, path, complain, part=False):
        self.path, self.complain = path, complain
        self.other_processes, self.pieces = {}, []
        self.tags, self.streams, self.schemas = {}, {}, []
        self.strings, self.sites, self.anchors = {}, {}, []
        self.blocks, self.end, self.counters = {}, None, None
        if part:
            return
        # The live file is read first: records that leave a slot during the reads are then in the file.
        live_data = read(path[: -len(".tmt")] + ".live")
        data = read(path)
        pending = []
        if data is not None and data[:8] != FILE_MAGIC:
            complain("not a Tumit run file")
        elif data is not None:
            version = unpack("<H", data, 8)[0]
            if version > 1:
                raise SystemExit("%s: format version %d is not known" % (path, version))
            for block in blocks(data, complain):
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
            complain("the process did not end in order")
            if live_data is not None and live_data[:8] == LIVE_MAGIC:
                self.add_live(live_data)

    def add_block(self, kind, stream, block):
        number = number_of(stream)
        if number:
            if number not in self.other_processes:
                self.other_processes[number] = Process(self.path, self.complain, part=True)
            return self.other_processes[number].add_block(kind, 0xFFFFFFFF, block)
        try:
            self.add_names(kind, stream, block.payload())
        except Bad as error:
            self.complain("a block of kind %d: %s" % (kind, error))

    def add_names(self, kind, stream, payload):
        """Adds the contents of a block without records."""
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

    def add_live(self, data):
        """Adds the names and the block of each slot that the process had not yet written."""
        slot_bytes, slots, log, _, first_slot, complete = unpack("<IIIIQQ", data, 32)[:6]
        if self.tags.get(1, data[16:32]) != data[16:32]:
            self.complain("the live file is of another process")
            return
        at, end = log, log + complete
        while at < end:
            kind, stream, _, length, at = unpack("<IIII", data, at)
            payload, at = take(data, at, length)
            try:
                self.add_names(kind, stream, payload)
            except Bad as error:
                self.complain("the log of names: %s" % error)
                break
            at = (at + 7) // 8 * 8
        overwritten = unpack("<Q", data, 72)[0]
        self.counters = overwritten + sum(struct.unpack_from("<256Q", data, 2048))
        places = []
        for at in range(first_slot, first_slot + slots * slot_bytes, slot_bytes):
            places.append((at, slot_bytes))
            if unpack("<I", data, at + 60)[0] == 4:  # divided
                places += [(at + part, 4096) for part in range(4096, slot_bytes, 4096)]
        for at, size in places:
            (used, records, last, first, flushed, flushed_records, written, flushed_last, sequence, _, stream, owned,
             at) = unpack("<IIQQIHHQQQII", data, at)  # fmt: skip
            if owned == 3 and flushed_last == overwritten:
                self.counters += records - flushed_records
            if owned not in (1, 2):
                continue
            if flushed > used or used > size - SLOT_HEAD:
                self.complain("an impossible slot")
                continue
            begin, date, sequence = flushed, flushed_last if written else first, sequence + written
            written_blocks = self.blocks.get(stream, {})
            while sequence in written_blocks:
                begin += written_blocks[sequence].raw_bytes
                date = written_blocks[sequence].last
                sequence += 1
            if begin < used:
                self.pieces.append((stream, sequence, date, last, bytes(data[at + begin : at + used])))

    def type_of(self, number):
        for base, ids, schema in self.schemas:
            if base <= number < base + min(ids, len(schema.records)):
                return schema, schema.records[number - base]
        raise Bad("record id %d is in no schema" % number)

    def walk(self, payload, date, limit=None):
        """The records of a payload: (ticks, name, level, source, fields, truncated)."""
        at, truncated = 0, False
        while at < len(payload):
            number, delta, at = unpack("<HI", payload, at)
            if number == WIDE_DATE:
                date, at = unpack("<Q", payload, at)
                continue
            date += delta
            if limit is not None and date > limit:
                raise Bad("a date that cannot be")
            if number == LOST:
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
            yield date, name, level, source, values, truncated
            truncated = False

    def records(self):
        """All records, stream by stream: (stream, ticks, name, level, source, fields, truncated)."""
        for stream in sorted(set(self.blocks) | {piece[0] for piece in self.pieces}):
            expected = 0
            for sequence, block in sorted(self.blocks.get(stream, {}).items()):
                if sequence != expected and not block.flags & 1:
                    self.complain("%d blocks of stream %d are missing" % (sequence - expected, stream))
                if block.flags & 2:
                    self.complain("records of stream %d were missing in the file of which this one was made" % stream)
                expected = sequence + 1
                try:
                    for record in self.walk(block.payload(), block.first):
                        yield (stream,) + record
                except Bad as error:
                    self.complain("block %d of stream %d: %s" % (sequence, stream, error))
            for _, _, first, last, payload in sorted(piece for piece in self.pieces if piece[0] == stream):
                try:
                    for record in self.walk(payload, first, last):
                        yield (stream,) + record
                except Bad as error:
                    self.complain("a slot of stream %d: %s" % (stream, error))

    def dropped(self):
        """The number of records that the process dropped."""
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
