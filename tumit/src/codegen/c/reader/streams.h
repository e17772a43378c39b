/* ---- The streams of a process ---- */

TUMIT1R_FN int tumit1r_by_number(const void *left, const void *right) {
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return a < b ? -1 : a > b ? 1 : 0;
}

/* Creates the streams: one for each number in a block of records or of tags. */
TUMIT1R_FN void tumit1r_create_streams(struct tumit1r_process *p) {
    size_t i, count = 0, streams = 0;
    uint32_t *numbers =
        (uint32_t *)malloc((p->blocks_count + p->others_count + 1) * sizeof *numbers);
    if (numbers == NULL) {
        p->failed = true;
        return;
    }
    for (i = 0; i < p->blocks_count; i++) {
        numbers[count++] = p->blocks[i].stream;
    }
    for (i = 0; i < p->others_count; i++) {
        if (p->others[i].kind == TUMIT1R_KIND_STREAM) {
            numbers[count++] = p->others[i].stream;
        }
    }
    qsort(numbers, count, sizeof *numbers, tumit1r_by_number);
    for (i = 0; i < count; i++) {
        if (i == 0 || numbers[i] != numbers[i - 1]) {
            numbers[streams++] = numbers[i];
        }
    }
    p->streams = (struct tumit1r_stream *)calloc(streams + 1, sizeof *p->streams);
    p->failed = p->failed || p->streams == NULL;
    p->streams_count = p->failed ? 0 : streams;
    p->streams_room = p->failed ? 0 : streams + 1;
    for (i = 0; i < p->streams_count; i++) {
        p->streams[i].process = p;
        p->streams[i].number = numbers[i];
    }
    free(numbers);
}

TUMIT1R_FN struct tumit1r_stream *tumit1r_stream_of(const struct tumit1r_process *p,
                                                    uint32_t number) {
    size_t low = 0, high = p->streams_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (p->streams[middle].number == number) {
            return &p->streams[middle];
        }
        if (p->streams[middle].number < number) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}

/* Assigns the blocks to the streams without duplicates, and counts missing blocks. */
TUMIT1R_FN void tumit1r_assign_blocks(struct tumit1r_process *p) {
    size_t i, count = 0, first = 0;
    if (p->blocks_count == 0) {
        return;
    }
    qsort(p->blocks, p->blocks_count, sizeof *p->blocks, tumit1r_by_sequence);
    for (i = 0; i < p->blocks_count; i++) {
        const struct tumit1r_block *last = count > 0 ? &p->blocks[count - 1] : NULL;
        if (last == NULL || last->stream != p->blocks[i].stream ||
            last->sequence != p->blocks[i].sequence) {
            p->blocks[count++] = p->blocks[i];
        }
    }
    p->blocks_count = count;
    for (i = 0; i < count; i++) {
        struct tumit1r_stream *stream = tumit1r_stream_of(p, p->blocks[i].stream);
        uint64_t expected;
        if (stream == NULL) {
            continue;
        }
        if (stream->blocks_count == 0) {
            first = i;
            stream->blocks = &p->blocks[i];
        }
        expected = i == first ? 0 : p->blocks[i - 1].sequence + 1;
        if ((p->blocks[i].flags & TUMIT1R_FLAG_OVERWRITTEN) == 0) {
            stream->missing_blocks += p->blocks[i].sequence - expected;
        }
        stream->blocks_count++;
        if (p->blocks[i].dropped > stream->dropped) {
            stream->dropped = p->blocks[i].dropped;
        }
    }
}

/* Reads the tags of a stream. A later block of tags adds to the earlier ones, or replaces them. */
TUMIT1R_FN void tumit1r_parse_stream_tags(struct tumit1r_stream *stream, const unsigned char *p,
                                          size_t count) {
    const unsigned char *end = p + count, *value;
    uint16_t tag;
    size_t bytes;
    if (!tumit1r_room(&stream->tags, &stream->tags_room, stream->tags_bytes + count + 1, 1)) {
        return;
    }
    memcpy(stream->tags + stream->tags_bytes, p, count);
    stream->tags_bytes += count;
    while (tumit1r_next_tag(&p, end, &tag, &value, &bytes)) {
        if (tag == TUMIT1R_TAG_STREAM_PROCESS) {
            stream->has_owner = bytes == 8;
            stream->owner = tumit1r_tag_number(value, bytes);
        } else if (tag == TUMIT1R_TAG_TID) {
            stream->has_tid = bytes == 8;
            stream->tid = tumit1r_tag_number(value, bytes);
        } else if (tag == TUMIT1R_TAG_THREAD_NAME) {
            free(stream->name_text);
            stream->name_text = tumit1r_copy_text(value, bytes);
        } else if (tag == TUMIT1R_TAG_STREAM_LABEL) {
            free(stream->label_text);
            stream->label_text = tumit1r_copy_text(value, bytes);
        } else if (tag == TUMIT1R_TAG_SIGNAL_STREAM) {
            stream->signal = tumit1r_tag_number(value, bytes) == 1;
        } else if (tag == TUMIT1R_TAG_OVERWRITTEN) {
            stream->overwrites = tumit1r_tag_number(value, bytes) == 1;
        }
    }
    if (stream->has_owner) {
        stream->tags_bytes =
            tumit1r_remove_tag(stream->tags, stream->tags_bytes, TUMIT1R_TAG_STREAM_PROCESS);
    }
}

TUMIT1R_FN void tumit1r_assign_tags(struct tumit1r_process *p) {
    unsigned char *stored = NULL, *buffer = NULL;
    size_t stored_room = 0, room = 0, i;
    for (i = 0; i < p->others_count && !p->failed; i++) {
        const struct tumit1r_block *block = &p->others[i];
        struct tumit1r_stream *stream = tumit1r_stream_of(p, block->stream);
        const unsigned char *payload;
        if (block->kind != TUMIT1R_KIND_STREAM || stream == NULL ||
            !tumit1r_room(&stored, &stored_room, (size_t)block->stored + 1, 1) ||
            tumit1r_read_at(p->file, block->payload, stored, block->stored) != block->stored) {
            continue;
        }
        payload = tumit1r_unpack(block, stored, &buffer, &room);
        if (payload != NULL) {
            tumit1r_parse_stream_tags(stream, payload, block->raw);
        }
    }
    free(stored);
    free(buffer);
    for (i = 0; i < p->streams_count; i++) {
        struct tumit1r_stream *stream = &p->streams[i];
        if (!stream->has_tid) {
            stream->tid = stream->number;
        }
        stream->named = stream->name_text != NULL && stream->name_text[0] != '\0';
        if (!stream->named) {
            char name[40];
            free(stream->name_text);
            (void)snprintf(name, sizeof name, "thread %llu", (unsigned long long)stream->tid);
            stream->name_text = tumit1r_copy_text(name, strlen(name));
        }
        stream->name = stream->name_text;
        stream->label = stream->label_text == NULL ? "" : stream->label_text;
        p->failed = p->failed || stream->name == NULL;
    }
}

TUMIT1R_FN void tumit1r_free_stream(struct tumit1r_stream *stream) {
    free(stream->tags);
    free(stream->label_text);
    free(stream->name_text);
    free(stream->numbered_name);
}
