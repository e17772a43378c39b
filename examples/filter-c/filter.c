/* Copies a run without the messages smaller than BYTES: filter RUN.tmt OUT.tmt BYTES */
#include "taktuk_read.h"

static bool filter(struct tumit1r_run *run, size_t process, const char *folder, uint32_t bytes) {
    struct tumit1r_reader *reader = tumit1r_read(run, process);
    struct tumit1r_writer *writer = tumit1r_copy(run->processes[process], folder, stderr);
    struct taktuk_record record;
    bool good = reader != NULL && writer != NULL;
    while (good && taktuk_next_record(reader, &record)) {
        if (record.kind == taktuk_is_post && record.as.post.bytes < bytes) {
            taktuk_print_post(stdout, &record.as.post);
            fputs(" is left out\n", stdout);
            continue;
        }
        good = taktuk_write_record(writer, &record);
    }
    tumit1r_end(reader);
    return writer != NULL && tumit1r_finish(writer) && good;
}

int main(int argc, char **argv) {
    struct tumit1r_run *run = argc == 4 ? tumit1r_open(argv[1], stderr) : NULL;
    bool good = run != NULL;
    size_t process;
    for (process = 0; good && process < run->count; process++) {
        good = filter(run, process, argv[2], (uint32_t)strtoul(argv[3], NULL, 10));
    }
    if (run != NULL) {
        (void)tumit1r_losses(run, stderr);
    }
    tumit1r_close(run);
    return good ? 0 : 1;
}
