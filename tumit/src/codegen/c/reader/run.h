/* ---- Timestamps of a run on a common axis ---- */

/* Nanoseconds of `ticks` of a clock with `hz` ticks per second, rounded down. */
TUMIT1R_FN uint64_t tumit1r_nanos(uint64_t ticks, uint64_t hz) {
#ifdef __SIZEOF_INT128__
    __extension__ typedef unsigned __int128 tumit1r_wide;
    tumit1r_wide slope = ((tumit1r_wide)1000000000u << 62) / hz;
    /* ticks * slope / 2^62 in two halves, because the product may need 156 bits. */
    tumit1r_wide low = (slope & 0xFFFFFFFFFFFFFFFFu) * ticks;
    tumit1r_wide high = (slope >> 64) * ticks;
    tumit1r_wide sum = (high << 2) + (low >> 62);
    return (high >> 61) != 0 || (sum >> 63) != 0 ? UINT64_MAX / 2 : (uint64_t)sum;
#else
    return ticks / hz * 1000000000u + (uint64_t)((double)(ticks % hz) * 1e9 / (double)hz);
#endif
}

/* Nanoseconds from the start of the run, with uncorrected clocks: `tumit dump --clock none`. */
TUMIT1R_FN int64_t tumit1r_timestamp(const struct tumit1r_process *p, uint64_t ticks) {
    uint64_t nanos = tumit1r_nanos(ticks, p == NULL ? 1000000000u : p->hz);
    return (int64_t)nanos - (int64_t)(p == NULL ? 0 : p->start);
}

TUMIT1R_FN void tumit1r_set_rates(struct tumit1r_run *run) {
    int64_t start = INT64_MAX;
    size_t i, k, m, width;
    run->ranked = true;
    run->thread_width = 0;
    for (i = 0; i < run->count; i++) {
        struct tumit1r_process *p = run->processes[i];
        p->run = run;
        tumit1r_name_threads(p);
        p->hz = tumit1r_rate(run, p);
        run->ranked = run->ranked && p->has_rank;
        for (k = 0; k < p->streams_count; k++) {
            const struct tumit1r_stream *stream = &p->streams[k];
            width = tumit1r_characters(stream->name);
            run->thread_width = width > run->thread_width ? width : run->thread_width;
            if (stream->blocks_count > 0) {
                int64_t timestamp = tumit1r_timestamp(p, stream->blocks[0].first_ticks);
                start = timestamp < start ? timestamp : start;
            }
        }
        for (k = 0; k < p->schemas_count; k++) {
            for (m = 0; m < p->schemas[k]->types_count; m++) {
                width = tumit1r_characters(p->schemas[k]->types[m].name);
                run->event_width = width > run->event_width ? width : run->event_width;
            }
        }
    }
    run->thread_width = run->thread_width < 6 ? 6 : run->thread_width > 24 ? 24 : run->thread_width;
    for (i = 0; i < run->count; i++) {
        run->processes[i]->start = start == INT64_MAX ? 0 : (uint64_t)start;
    }
}

TUMIT1R_FN uint64_t tumit1r_records_of(const struct tumit1r_process *p) {
    uint64_t records = 0;
    size_t i;
    for (i = 0; i < p->blocks_count; i++) {
        records += p->blocks[i].records;
    }
    return records;
}

TUMIT1R_FN int tumit1r_by_rank(const void *left, const void *right) {
    const struct tumit1r_process *a = *(struct tumit1r_process *const *)left;
    const struct tumit1r_process *b = *(struct tumit1r_process *const *)right;
    if (a->has_rank != b->has_rank) {
        return a->has_rank ? -1 : 1;
    }
    if (a->has_rank && a->rank != b->rank) {
        return a->rank < b->rank ? -1 : 1;
    }
    if (strcmp(a->path, b->path) != 0) {
        return strcmp(a->path, b->path);
    }
    return a->number < b->number ? -1 : a->number > b->number ? 1 : 0;
}

/* Adds a process. Of two files of one process, only the one with more records stays. */
TUMIT1R_FN void tumit1r_add_process(struct tumit1r_run *run, struct tumit1r_process *p) {
    static const unsigned char unknown[16] = {0};
    size_t i;
    for (i = 0; i < run->count; i++) {
        struct tumit1r_process *other = run->processes[i];
        if (memcmp(other->id, p->id, sizeof p->id) == 0 &&
            memcmp(p->id, unknown, sizeof p->id) != 0) {
            if (tumit1r_records_of(p) > tumit1r_records_of(other)) {
                run->processes[i] = p;
                p = other;
            }
            tumit1r_free_process(p);
            return;
        }
    }
    if (!tumit1r_room(&run->processes, &run->room, run->count + 1, sizeof *run->processes)) {
        tumit1r_free_process(p);
        run->unreadable++;
        return;
    }
    run->processes[run->count++] = p;
}

/* Adds the processes of a file: one, or all those of a sorted file. */
TUMIT1R_FN void tumit1r_add_file(struct tumit1r_run *run, struct tumit1r_process *p) {
    struct tumit1r_process **parts = p->parts;
    const size_t count = p->parts_count;
    size_t i;
    p->parts = NULL;
    p->parts_count = 0;
    tumit1r_add_process(run, p);
    for (i = 0; i < count; i++) {
        if (parts[i] != NULL) {
            tumit1r_add_process(run, parts[i]);
        }
    }
    free(parts);
}

/* Closes a run. All data that was read from it becomes invalid. */
TUMIT1R_FN void tumit1r_close(struct tumit1r_run *run) {
    size_t i;
    if (run == NULL) {
        return;
    }
    for (i = 0; i < run->count; i++) {
        tumit1r_free_process(run->processes[i]);
    }
    free(run->processes);
    free(run);
}

TUMIT1R_FN char *tumit1r_join(const char *folder, const char *name) {
    size_t first = strlen(folder), second = strlen(name);
    char *path = (char *)malloc(first + second + 2);
    if (path != NULL) {
        memcpy(path, folder, first);
        path[first] = '/';
        memcpy(path + first + 1, name, second + 1);
    }
    return path;
}

TUMIT1R_FN int tumit1r_by_text(const void *left, const void *right) {
    return strcmp(*(char *const *)left, *(char *const *)right);
}

TUMIT1R_FN void tumit1r_open_folder(struct tumit1r_run *run, DIR *folder, const char *path,
                                    FILE *errors) {
    struct dirent *entry;
    char **files = NULL;
    size_t count = 0, room = 0, i;
    while ((entry = readdir(folder)) != NULL) {
        size_t length = strlen(entry->d_name);
        if (length > 4 && strcmp(entry->d_name + length - 4, ".tmt") == 0 &&
            tumit1r_room(&files, &room, count + 1, sizeof *files)) {
            char *file = tumit1r_join(path, entry->d_name);
            if (file != NULL) {
                files[count++] = file;
            }
        }
    }
    if (count > 0) {
        qsort(files, count, sizeof *files, tumit1r_by_text);
    }
    for (i = 0; i < count; i++) {
        struct tumit1r_process *p = tumit1r_open_process(files[i], errors);
        if (p != NULL) {
            tumit1r_add_file(run, p);
        } else {
            run->unreadable++;
        }
        free(files[i]);
    }
    free(files);
}

/* Opens a run folder, or one file of it: checks every block and collects the tables. Records
 * stay in the files. NULL when there is nothing to read. Reports unusable files on `errors`,
 * unless it is NULL. */
TUMIT1R_FN struct tumit1r_run *tumit1r_open(const char *path, FILE *errors) {
    struct tumit1r_run *run = (struct tumit1r_run *)calloc(1, sizeof *run);
    DIR *folder;
    if (run == NULL) {
        return NULL;
    }
    folder = opendir(path);
    if (folder != NULL) {
        tumit1r_open_folder(run, folder, path, errors);
        closedir(folder);
        if (run->count == 0 && run->unreadable == 0 && errors != NULL) {
            fprintf(errors, "%s: no process files (*.tmt) in this folder\n", path);
        }
    } else {
        struct tumit1r_process *p = tumit1r_open_process(path, errors);
        if (p != NULL) {
            tumit1r_add_file(run, p);
        }
    }
    if (run->count == 0) {
        tumit1r_close(run);
        return NULL;
    }
    qsort(run->processes, run->count, sizeof *run->processes, tumit1r_by_rank);
    tumit1r_set_rates(run);
    return run;
}

/* Prints missing and damaged data of a run on `out`, one item per line. Returns the number of
 * lines. Call it after reading, because some damage is only found then. */
TUMIT1R_FN unsigned tumit1r_losses(const struct tumit1r_run *run, FILE *out) {
    unsigned lines = run->unreadable > 0;
    size_t i, k;
    if (run->unreadable > 0) {
        fprintf(out, "%llu files cannot be read\n", (unsigned long long)run->unreadable);
    }
    for (i = 0; i < run->count; i++) {
        const struct tumit1r_process *p = run->processes[i];
        uint64_t dropped = 0, missing = 0;
        for (k = 0; k < p->streams_count; k++) {
            dropped += p->streams[k].dropped;
            missing += p->streams[k].missing_blocks;
        }
        dropped = p->dropped > dropped ? p->dropped : dropped;
        if (p->damaged_bytes > 0) {
            fprintf(out, "%s: %llu damaged bytes\n", p->path, (unsigned long long)p->damaged_bytes);
        }
        if (missing > 0) {
            fprintf(out, "%s: %llu blocks are missing\n", p->path, (unsigned long long)missing);
        }
        if (p->damaged_records > 0) {
            fprintf(out, "%s: %llu records cannot be decoded\n", p->path,
                    (unsigned long long)p->damaged_records);
        }
        if (dropped > 0) {
            fprintf(out, "%s: %llu records were dropped\n", p->path, (unsigned long long)dropped);
        }
        if (!p->ended) {
            fprintf(out, "%s: the process did not end in order\n", p->path);
        }
        lines += (unsigned)(p->damaged_bytes > 0) + (missing > 0) + (p->damaged_records > 0) +
                 (dropped > 0) + !p->ended;
    }
    return lines;
}
