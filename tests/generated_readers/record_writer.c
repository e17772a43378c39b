/* Makes a run of the case `types` without any recorder: record_writer FILE. */
#include "types_read.h"

int main(int argc, char **argv) {
    struct tumit1r_about about;
    struct tumit1r_writer *writer;
    struct types_texts_record texts;
    struct types_counted_record counted;
    struct types_placed_record placed;
    const int64_t longs[2] = {INT64_MIN, -1};
    const uint32_t colors[2] = {types_color_blue, types_color_red};
    const char *const names[2] = {"north", "south"};
    memset(&about, 0, sizeof about);
    about.id[0] = 1;
    about.pid = 42;
    about.host = "nowhere";
    about.clock_kind = TUMIT1R_CLOCK_USER;
    about.clock_hz = 1000;
    about.clock_domain = "mine";
    writer = argc == 2 ? tumit1r_create(argv[1], &about, stderr) : NULL;
    if (writer == NULL) {
        return 1;
    }
    tumit1r_describe(writer, 0, 43, "main");
    memset(&texts, 0, sizeof texts);
    texts.head.ticks = 5000;
    texts.name = "north";
    texts.what = "h\xC3\xA9llo \"\xCC\x81\" \xFF\n";
    texts.what_bytes = strlen(texts.what);
    memset(&counted, 0, sizeof counted);
    counted.head.ticks = 6000;
    counted.b = longs;
    counted.b_count = 2;
    counted.c = colors;
    counted.c_count = 2;
    counted.d = names;
    counted.d_count = 2;
    memset(&placed, 0, sizeof placed);
    placed.head.ticks = (uint64_t)1 << 40;
    placed.head.file = "there.c";
    placed.head.line = 12;
    placed.n = 7;
    return types_write_texts(writer, &texts) && types_write_counted(writer, &counted) &&
                   types_write_placed(writer, &placed) && tumit1r_finish(writer)
               ? 0
               : 1;
}
