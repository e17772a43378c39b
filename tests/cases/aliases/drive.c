/* Named types: of numbers, enums, arrays, and of other named types. */
#include "aliases_trace.h"

int main(void) {
    const double place[3] = {0.5, -1.0, 2.25};
    const uint16_t path[3] = {3, 2, 1};
    const enum aliases_color palette[2] = {aliases_color_green, aliases_color_red};
    const enum aliases_color red[2] = {aliases_color_red, aliases_color_red};
    const char *const names[2] = {"a", "b"};

    aliases_moved(1, 2, place);
    aliases_visited(path, 3, palette, "a", names, 2, aliases_color_green);
    aliases_visited(NULL, 0, red, "c", NULL, 0, aliases_color_red);
    return 0;
}
