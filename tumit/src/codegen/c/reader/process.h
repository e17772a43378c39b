/* ---- One file of a run: opening it, with all data about its processes ---- */

TUMIT1R_FN void tumit1r_free_names(struct tumit1r_names *names) {
    size_t i;
    for (i = 0; i < names->count; i++) {
        free(names->by_id[i].text);
    }
    free(names->by_id);
}

TUMIT1R_FN void tumit1r_free_process(struct tumit1r_process *p) {
    size_t i;
    for (i = 0; i < p->parts_count; i++) {
        if (p->parts[i] != NULL) {
            tumit1r_free_process(p->parts[i]);
        }
    }
    for (i = 0; i < p->streams_count; i++) {
        tumit1r_free_stream(&p->streams[i]);
    }
    for (i = 0; i < p->schemas_count; i++) {
        tumit1r_free_schema(p->schemas[i]);
    }
    tumit1r_free_names(&p->strings);
    tumit1r_free_names(&p->sites);
    free(p->parts);
    free(p->schemas);
    free(p->types);
    free(p->streams);
    free(p->blocks);
    free(p->others);
    free(p->tags);
    free(p->path);
    free(p->host);
    free(p->clock_domain);
    free(p->command);
    free(p->writer);
    free(p->job);
    if (p->users != NULL && --*p->users == 0) {
        if (p->file != NULL) {
            fclose(p->file);
        }
        free(p->users);
    }
    free(p);
}

/* Opens the file and checks its first bytes. Returns the reason why it cannot be read, or NULL. */
TUMIT1R_FN const char *tumit1r_open_file(struct tumit1r_process *p) {
    unsigned char head[TUMIT1R_PREAMBLE_BYTES];
    long length = 0;
    p->users = (size_t *)malloc(sizeof *p->users);
    if (p->users == NULL) {
        return "there is no memory for its tables";
    }
    *p->users = 1;
    p->file = fopen(p->path, "rb");
    if (p->file == NULL || fseek(p->file, 0, SEEK_END) != 0 || (length = ftell(p->file)) < 0) {
        return strerror(errno);
    }
    p->bytes = (uint64_t)length;
    if (tumit1r_read_at(p->file, 0, head, sizeof head) != sizeof head ||
        memcmp(head, TUMIT1R_FILE_MAGIC, 8) != 0) {
        return "not a process file of a Tumit run";
    }
    if (tumit1r_get_u16(head + 8) == 0 || tumit1r_get_u16(head + 8) > TUMIT1R_FORMAT_VERSION) {
        return "its format is of another version than this program reads";
    }
    return NULL;
}

/* Opens a file of a run and collects its tables. The other processes of a sorted file are its
 * `parts`. If it is not a file of a run, returns NULL and prints a line to `errors`. */
TUMIT1R_FN struct tumit1r_process *tumit1r_open_process(const char *path, FILE *errors) {
    struct tumit1r_process *p = tumit1r_new_process(path);
    struct tumit1r_window window;
    const char *error = NULL;
    if (p == NULL) {
        return NULL;
    }
    tumit1r_crc_init();
    if (!p->failed) {
        error = tumit1r_open_file(p);
    }
    if (error == NULL && !p->failed) {
        memset(&window, 0, sizeof window);
        window.file = p->file;
        window.length = p->bytes;
        tumit1r_scan(p, &window);
        free(window.bytes);
    }
    if (error == NULL && !p->failed) {
        tumit1r_create_streams(p);
    }
    if (error == NULL && !p->failed) {
        tumit1r_assign_blocks(p);
        tumit1r_assign_tags(p);
        tumit1r_assign_streams(p);
    }
    if (error != NULL || p->failed) {
        if (errors != NULL) {
            fprintf(errors, "%s: %s\n", path,
                    error != NULL ? error
                                  : "it cannot be read, or there is no memory for its tables");
        }
        tumit1r_free_process(p);
        return NULL;
    }
    return p;
}
