/* ---- A sorted file: the process of each stream ---- */

/* The process of a stream in a sorted file. NULL when no block states it. */
TUMIT1R_FN struct tumit1r_process *tumit1r_process_of_stream(struct tumit1r_process *p,
                                                             const struct tumit1r_stream *stream) {
    if (!stream->has_owner || (stream->owner != 0 && stream->owner >= p->parts_count)) {
        return NULL;
    }
    return stream->owner == 0 ? p : p->parts[stream->owner];
}

/* Moves a stream with its blocks from the first process of the file, which can be the same one. */
TUMIT1R_FN void tumit1r_move_stream(struct tumit1r_process *part, struct tumit1r_stream stream) {
    struct tumit1r_block *blocks;
    if (!tumit1r_room(&part->streams, &part->streams_room, part->streams_count + 1,
                      sizeof *part->streams) ||
        !tumit1r_room(&part->blocks, &part->blocks_room, part->blocks_count + stream.blocks_count,
                      sizeof *blocks)) {
        tumit1r_free_stream(&stream);
        part->failed = true;
        return;
    }
    blocks = part->blocks + part->blocks_count;
    if (stream.blocks_count > 0) {
        memmove(blocks, stream.blocks, stream.blocks_count * sizeof *blocks);
    }
    stream.process = part;
    stream.blocks = NULL; /* the table may still move */
    part->blocks_count += stream.blocks_count;
    part->streams[part->streams_count++] = stream;
}

/* Sets the pointers from streams to their blocks. */
TUMIT1R_FN void tumit1r_set_block_pointers(struct tumit1r_process *p) {
    size_t i, position = 0;
    for (i = 0; i < p->streams_count; i++) {
        p->streams[i].blocks = p->streams[i].blocks_count == 0 ? NULL : p->blocks + position;
        position += p->streams[i].blocks_count;
    }
}

/* In a sorted file: assigns the streams to their processes. Records without a process count as
 * damage, because an assignment to the wrong process would be worse. */
TUMIT1R_FN void tumit1r_assign_streams(struct tumit1r_process *p) {
    const size_t streams = p->streams_count;
    size_t i, k;
    if (p->parts_count == 0 && !p->sorted) {
        return;
    }
    p->sorted = true;
    /* Streams and blocks are in the same order. The remaining ones move to the front. */
    p->streams_count = 0;
    p->blocks_count = 0;
    for (i = 0; i < streams; i++) {
        struct tumit1r_stream stream = p->streams[i];
        struct tumit1r_process *owner = tumit1r_process_of_stream(p, &stream);
        if (owner != NULL) {
            tumit1r_move_stream(owner, stream);
            continue;
        }
        for (k = 0; k < stream.blocks_count; k++) {
            p->damaged_bytes +=
                (TUMIT1R_HEADER_BYTES + (uint64_t)stream.blocks[k].stored + 7) / 8 * 8;
            p->damaged_pieces++;
        }
        tumit1r_free_stream(&stream);
    }
    tumit1r_set_block_pointers(p);
    for (i = 0; i < p->parts_count; i++) {
        if (p->parts[i] != NULL) {
            p->parts[i]->sorted = true;
            tumit1r_set_block_pointers(p->parts[i]);
            p->failed = p->failed || p->parts[i]->failed;
        }
    }
}
