/* Reads, prints and copies runs of the case `types`:
 *   tool lines RUN           as `tumit dump --clock none`
 *   tool records RUN         stream by stream, without timestamp and thread
 *   tool copy RUN FOLDER     record by record
 *   tool all FOLDER RUN...   everything, with runs that may be damaged */
#include "types_read.h"

static void print(const struct types_record *record) {
    switch (record->kind) {
    case types_is_numbers:
        types_print_numbers(stdout, &record->as.numbers);
        break;
    case types_is_step_begin:
        types_print_step_begin(stdout, &record->as.step_begin);
        break;
    default:
        types_print_record(stdout, record);
        break;
    }
    putchar('\n');
}

static void lines(struct tumit1r_run *run) {
    struct tumit1r_reader *reader = tumit1r_read_by_timestamp(run);
    struct types_record record;
    while (types_next_record(reader, &record)) {
        if (record.kind != TUMIT1R_DROPPED) {
            types_print_line(stdout, &record);
        }
    }
    tumit1r_end(reader);
}

static void records(struct tumit1r_run *run) {
    size_t i;
    for (i = 0; i < run->count; i++) {
        struct tumit1r_reader *reader = tumit1r_read(run, i);
        struct types_record record;
        while (types_next_record(reader, &record)) {
            print(&record);
        }
        tumit1r_end(reader);
    }
}

static bool copy(struct tumit1r_run *run, const char *folder) {
    bool good = true;
    size_t i;
    for (i = 0; i < run->count; i++) {
        struct tumit1r_reader *reader = tumit1r_read(run, i);
        struct tumit1r_writer *writer = tumit1r_copy(run->processes[i], folder, stderr);
        struct types_record record;
        while (writer != NULL && types_next_record(reader, &record)) {
            good = types_write_record(writer, &record) && good;
        }
        good = writer != NULL && tumit1r_finish(writer) && good;
        tumit1r_end(reader);
    }
    return good;
}

int main(int argc, char **argv) {
    struct tumit1r_run *run;
    int i;
    bool good = true;
    if (argc < 3) {
        return 2;
    }
    if (strcmp(argv[1], "all") == 0) {
        for (i = 3; i < argc; i++) {
            run = tumit1r_open(argv[i], NULL);
            if (run != NULL) {
                lines(run);
                records(run);
                (void)copy(run, argv[2]);
                (void)tumit1r_losses(run, stdout);
            }
            tumit1r_close(run);
        }
        return 0;
    }
    run = tumit1r_open(argv[2], stderr);
    if (run == NULL) {
        return 1;
    }
    if (strcmp(argv[1], "lines") == 0) {
        lines(run);
    } else if (strcmp(argv[1], "records") == 0) {
        records(run);
    } else {
        good = argc == 4 && copy(run, argv[3]);
    }
    (void)tumit1r_losses(run, stderr);
    tumit1r_close(run);
    return good ? 0 : 1;
}
