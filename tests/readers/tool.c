/* Reads, prints and copies runs of the case `types`: tool lines|records|stats RUN..., tool copy RUN FOLDER. */
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

static void lines(struct tumit1r_run *run, bool all) {
    struct tumit1r_reader *reader = tumit1r_read_by_date(run);
    struct types_record record;
    while (types_next_record(reader, &record)) {
        if (record.kind == TUMIT1R_LOST) {
            continue;
        }
        if (all) {
            types_print_line(stdout, &record);
        } else {
            print(&record);
        }
    }
    tumit1r_end(reader);
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
    int i;
    for (i = 2; i < argc; i++) {
        struct tumit1r_run *run = tumit1r_open(argv[i], argv[1][0] == 's' ? NULL : stderr);
        bool good = run != NULL;
        if (good && argv[1][0] == 'c') {
            good = argc == 4 && copy(run, argv[++i]);
        } else if (good) {
            lines(run, argv[1][0] == 'l');
            if (argv[1][0] == 's') {
                printf("%u losses\n", tumit1r_losses(run, stdout));
            }
        }
        tumit1r_close(run);
        if (!good && argv[1][0] != 's') {
            return 1;
        }
    }
    return 0;
}
