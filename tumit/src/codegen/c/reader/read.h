/* ---- Reading: records stream by stream, or all streams by timestamp ---- */

/* A report of records that the recorder dropped, or, in a repaired file, of missing or damaged
 * records of the original. */
struct tumit1r_dropped {
    uint64_t count, bytes, first_ticks, last_ticks;
    uint32_t cause;
};
/* The common members of all records. A program that writes the record may change `ticks`, and
 * `file` with `line`. */
struct tumit1r_head {
    uint64_t ticks; /* its timestamp on the process's own clock */
    int64_t nanos;  /* nanoseconds since the start of the run, without clock correction */
    const struct tumit1r_process *process; /* its pid, rank, host … */
    const struct tumit1r_stream *stream;   /* its thread: tid, name */
    const char *file;                      /* source file; NULL if not recorded */
    uint32_t line;
    /* number of absent fields of the event, which are 0; see tumit1r_has() */
    uint32_t missing;
    const struct tumit1r_type *type; /* the type in the file */
    /* the fields in the layout of the file, until the next record is read */
    const unsigned char *body;
    size_t body_bytes;
    uint64_t stream_dropped; /* dropped records of the stream at the end of the block */
    struct tumit1r_dropped dropped;
};
/* The position in a stream. Its memory contains one block. */
struct tumit1r_cursor {
    struct tumit1r_process *process;
    const struct tumit1r_stream *stream;
    size_t next_block, at, bytes;
    const unsigned char *payload;
    unsigned char *stored, *unpacked;
    size_t stored_room, unpacked_room;
    uint64_t ticks;
    uint32_t in_block;
    size_t *offsets; /* offsets of the fields of the current record */
    size_t offsets_room;
    unsigned char *memory; /* memory for the pointers of the current record */
    size_t memory_room, memory_used;
    struct tumit1r_head head;
};
struct tumit1r_reader {
    struct tumit1r_cursor *cursors;
    size_t count, current;
    bool by_timestamp, begun;
};

/* Computes the offsets of a record's fields: `offsets[k]` is the start of field k,
 * `offsets[count]` the end. Returns false when they exceed the body. */
TUMIT1R_FN bool tumit1r_find_offsets(const struct tumit1r_type *type, const unsigned char *body,
                                     size_t room, size_t *offsets) {
    size_t offset = 0;
    uint32_t k;
    for (k = 0; k < type->count; k++) {
        const struct tumit1r_field *field = &type->fields[k];
        size_t item_bytes = tumit1r_scalar_bytes(field->scalar, field->wide), bytes;
        offsets[k] = offset;
        if (field->form == TUMIT1R_FIXED) {
            bytes = item_bytes * field->count;
        } else if (field->form == TUMIT1R_ONE && item_bytes != 0) {
            bytes = item_bytes;
        } else {
            if (room - offset < 2) {
                return false;
            }
            bytes = 2 + (size_t)tumit1r_get_u16(body + offset) * (item_bytes == 0 ? 1 : item_bytes);
        }
        if (bytes > room - offset) {
            return false;
        }
        offset += bytes;
    }
    offsets[type->count] = offset;
    return true;
}

/* Marks the rest of the block as unreadable. */
TUMIT1R_FN void tumit1r_skip_block(struct tumit1r_cursor *c) {
    uint32_t records = c->stream->blocks[c->next_block - 1].records;
    c->process->damaged_bytes += c->bytes - c->at;
    c->process->damaged_records += records > c->in_block ? records - c->in_block : 0;
    c->at = c->bytes;
}

TUMIT1R_FN bool tumit1r_load(struct tumit1r_cursor *c) {
    const struct tumit1r_block *block;
    if (c->next_block >= c->stream->blocks_count) {
        return false;
    }
    block = &c->stream->blocks[c->next_block++];
    c->at = 0;
    c->bytes = 0;
    c->in_block = 0;
    c->ticks = block->first_ticks;
    c->head.stream_dropped = block->dropped;
    if (!tumit1r_room(&c->stored, &c->stored_room, (size_t)block->stored + 1, 1) ||
        tumit1r_read_at(c->process->file, block->payload, c->stored, block->stored) !=
            block->stored ||
        (c->payload = tumit1r_unpack(block, c->stored, &c->unpacked, &c->unpacked_room)) == NULL) {
        c->process->damaged_bytes += block->stored;
        c->process->damaged_records += block->records;
        return true;
    }
    c->bytes = block->raw;
    return true;
}

/* Sets the source position of the record, from the table of its file. */
TUMIT1R_FN void tumit1r_set_location(struct tumit1r_head *head, uint32_t site) {
    const struct tumit1r_names *sites = &head->process->sites;
    head->file = NULL;
    head->line = 0;
    if (site < sites->count && sites->by_id[site].text != NULL) {
        head->file = sites->by_id[site].text;
        head->line = sites->by_id[site].line;
    }
}

/* The kind of data at a cursor. */
enum tumit1r_found { TUMIT1R_FOUND_DAMAGE, TUMIT1R_FOUND_TIMESTAMP, TUMIT1R_FOUND_RECORD };

/* Sets a record that counts dropped records, from its body. */
TUMIT1R_FN void tumit1r_set_dropped(struct tumit1r_head *head, const unsigned char *body) {
    head->dropped.count = tumit1r_get_u64(body);
    head->dropped.bytes = tumit1r_get_u64(body + 8);
    head->dropped.first_ticks = tumit1r_get_u64(body + 16);
    head->dropped.last_ticks = tumit1r_get_u64(body + 24);
    head->dropped.cause = tumit1r_get_u32(body + 32);
    head->body = body;
    head->body_bytes = TUMIT1R_DROPPED_BODY_BYTES;
}

/* Reads the head of the record at the cursor. If it is damaged, the rest of the block counts as
 * damaged. */
TUMIT1R_FN enum tumit1r_found tumit1r_parse(struct tumit1r_cursor *c) {
    const unsigned char *p = c->payload + c->at;
    size_t remaining = c->bytes - c->at, skip = TUMIT1R_RECORD_HEAD_BYTES;
    struct tumit1r_head *head = &c->head;
    uint16_t id;
    uint64_t ticks;
    memset(&head->dropped, 0, sizeof head->dropped);
    head->type = NULL;
    head->file = NULL;
    head->missing = 0;
    if (remaining < skip) {
        return TUMIT1R_FOUND_DAMAGE;
    }
    id = tumit1r_get_u16(p);
    ticks = c->ticks + tumit1r_get_u32(p + 2);
    if (id == TUMIT1R_ID_WIDE_TIMESTAMP) {
        if (remaining < skip + 8) {
            return TUMIT1R_FOUND_DAMAGE;
        }
        c->ticks = tumit1r_get_u64(p + skip);
        c->at += skip + 8;
        return c->at < c->bytes ? TUMIT1R_FOUND_TIMESTAMP : TUMIT1R_FOUND_DAMAGE;
    }
    if (id == TUMIT1R_ID_DROPPED) {
        if (remaining < skip + TUMIT1R_DROPPED_BODY_BYTES) {
            return TUMIT1R_FOUND_DAMAGE;
        }
        tumit1r_set_dropped(head, p + skip);
        c->at += skip + TUMIT1R_DROPPED_BODY_BYTES;
    } else {
        const struct tumit1r_type *type =
            id < c->process->types_count ? c->process->types[id] : NULL;
        if (type == NULL) {
            return TUMIT1R_FOUND_DAMAGE;
        }
        if (type->located) {
            if (remaining < skip + 4) {
                return TUMIT1R_FOUND_DAMAGE;
            }
            tumit1r_set_location(head, tumit1r_get_u32(p + skip));
            skip += 4;
        }
        if (!tumit1r_room(&c->offsets, &c->offsets_room, (size_t)type->count + 1,
                          sizeof *c->offsets) ||
            !tumit1r_find_offsets(type, p + skip, remaining - skip, c->offsets)) {
            return TUMIT1R_FOUND_DAMAGE;
        }
        head->type = type;
        head->body = p + skip;
        head->body_bytes = c->offsets[type->count];
        c->at += skip + head->body_bytes;
    }
    c->ticks = ticks;
    head->ticks = ticks;
    return TUMIT1R_FOUND_RECORD;
}

/* Moves to the next record of a stream. Returns false at its end. */
TUMIT1R_FN bool tumit1r_advance(struct tumit1r_cursor *c) {
    enum tumit1r_found item = TUMIT1R_FOUND_TIMESTAMP;
    int64_t nanos;
    while (item != TUMIT1R_FOUND_RECORD) {
        if (c->at >= c->bytes) {
            if (!tumit1r_load(c)) {
                return false;
            }
            continue;
        }
        item = tumit1r_parse(c);
        if (item == TUMIT1R_FOUND_DAMAGE) {
            tumit1r_skip_block(c);
        }
    }
    c->in_block++;
    nanos = tumit1r_timestamp(c->process, c->head.ticks);
    c->head.nanos = nanos > c->head.nanos ? nanos : c->head.nanos;
    return true;
}

TUMIT1R_FN void tumit1r_free_cursor(struct tumit1r_cursor *c) {
    free(c->stored);
    free(c->unpacked);
    free(c->offsets);
    free(c->memory);
    memset(c, 0, sizeof *c);
}

/* Ends reading. Pointers in the last record become invalid. */
TUMIT1R_FN void tumit1r_end(struct tumit1r_reader *reader) {
    size_t i;
    if (reader == NULL) {
        return;
    }
    for (i = 0; i < reader->count; i++) {
        tumit1r_free_cursor(&reader->cursors[i]);
    }
    free(reader->cursors);
    free(reader);
}

/* Reads the processes from `from` up to, but without, `to`. */
TUMIT1R_FN struct tumit1r_reader *tumit1r_open_reader(struct tumit1r_run *run, size_t from,
                                                      size_t to, bool by_timestamp) {
    struct tumit1r_reader *reader = (struct tumit1r_reader *)calloc(1, sizeof *reader);
    size_t i, k, count = 0;
    for (i = from; i < to; i++) {
        count += run->processes[i]->streams_count;
    }
    if (reader == NULL) {
        return NULL;
    }
    reader->cursors = (struct tumit1r_cursor *)calloc(count + 1, sizeof *reader->cursors);
    reader->by_timestamp = by_timestamp;
    if (reader->cursors == NULL) {
        free(reader);
        return NULL;
    }
    for (i = from; i < to; i++) {
        for (k = 0; k < run->processes[i]->streams_count; k++) {
            struct tumit1r_cursor *c = &reader->cursors[reader->count++];
            c->process = run->processes[i];
            c->stream = &c->process->streams[k];
            c->head.process = c->process;
            c->head.stream = c->stream;
            c->head.nanos = INT64_MIN;
        }
    }
    return reader;
}

/* Reads the records of one process of a run, stream by stream, with one block in memory. NULL
 * when there is no memory. */
TUMIT1R_FN struct tumit1r_reader *tumit1r_read(struct tumit1r_run *run, size_t process) {
    return tumit1r_open_reader(run, process, process + 1, false);
}

/* Reads all records of a run in order of their timestamps, with uncorrected clocks and one block
 * per stream in memory. */
TUMIT1R_FN struct tumit1r_reader *tumit1r_read_by_timestamp(struct tumit1r_run *run) {
    return tumit1r_open_reader(run, 0, run->count, true);
}

/* The stream with the earliest record, or the first of several. Time is linear in the number of
 * streams. */
TUMIT1R_FN struct tumit1r_cursor *tumit1r_earliest(struct tumit1r_reader *reader) {
    struct tumit1r_cursor *earliest = NULL;
    size_t i;
    for (i = 0; i < reader->count; i++) {
        struct tumit1r_cursor *c = &reader->cursors[i];
        if (c->process != NULL && (earliest == NULL || c->head.nanos < earliest->head.nanos)) {
            earliest = c;
            reader->current = i;
        }
    }
    return earliest;
}

TUMIT1R_FN struct tumit1r_cursor *tumit1r_next_cursor(struct tumit1r_reader *reader) {
    size_t i;
    if (!reader->by_timestamp) {
        for (; reader->current < reader->count; reader->current++) {
            if (tumit1r_advance(&reader->cursors[reader->current])) {
                return &reader->cursors[reader->current];
            }
            tumit1r_free_cursor(&reader->cursors[reader->current]);
        }
        return NULL;
    }
    for (i = 0; i < reader->count; i++) {
        struct tumit1r_cursor *c = &reader->cursors[i];
        if (c->process != NULL && (!reader->begun || i == reader->current) && !tumit1r_advance(c)) {
            tumit1r_free_cursor(c);
        }
    }
    reader->begun = true;
    return tumit1r_earliest(reader);
}
