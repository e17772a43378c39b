/* Reads a run of the old spec with the header of the new spec: `version_reader RUN FOLDER`. Copies
 * the run and decrements each `n`. */
#include "grow_read.h"

int main(int argc, char **argv) {
    struct tumit1r_run *run = argc == 3 ? tumit1r_open(argv[1], stderr) : NULL;
    struct tumit1r_reader *reader;
    struct tumit1r_writer *writer;
    struct grow_record record;
    struct grow_fresh_record fresh;
    if (run == NULL) {
        return 1;
    }
    reader = tumit1r_read(run, 0);
    writer = tumit1r_copy(run->processes[0], argv[2], stderr);
    while (writer != NULL && grow_next_record(reader, &record)) {
        grow_print_record(stdout, &record);
        if (record.kind == grow_is_a) {
            const struct grow_a_record *a = &record.as.a;
            printf(" | n %u tint %#x more '%s' missing %u few %d many %#x%s", (unsigned)a->n, (unsigned)a->tint, a->more,
                   (unsigned)a->head.missing, a->few_count > 0 ? (int)a->few[0] : 0, (unsigned)a->many[1],
                   tumit1r_has(&a->head, "n") && !tumit1r_has(&a->head, "more") ? "" : " wrong");
            record.as.a.n--;
        } else if (record.kind == TUMIT1R_OTHER) {
            printf(" | unknown");
        }
        putchar('\n');
        if (!grow_write_record(writer, &record)) {
            return 1;
        }
    }
    if (writer == NULL) {
        return 1;
    }
    printf("%u unknown\n", (unsigned)run->processes[0]->unknown_records);
    /* The writer refuses fields that the old file cannot contain. For an event of the new spec, it
     * also writes the new schema. */
    memset(&fresh, 0, sizeof fresh);
    fresh.head.ticks = UINT64_MAX / 4;
    if (!grow_write_fresh(writer, &fresh) || !tumit1r_finish(writer)) {
        return 1;
    }
    tumit1r_end(reader);
    tumit1r_close(run);
    return 0;
}
