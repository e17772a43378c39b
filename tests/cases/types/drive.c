/* The same calls as drive.rs. */
#include "types_trace.h"

int main(void) {
    const uint8_t bytes[3] = {1, 2, 255};
    const double doubles[2] = {-0.5, 1e300};
    const enum types_color colors[2] = {types_color_blue, types_color_red};
    const bool flags[2] = {true, false};
    const uint16_t shorts[4] = {1, 2, 3, 65535};
    const int64_t longs[2] = {INT64_MIN, -1};
    const char *const names[3] = {"north", "", "south"};
    tumit1_date before = tumit1_now();
    uint32_t n;

    types_numbers(255, 65535, 4294967295u, UINT64_MAX, -128, -32768, INT32_MIN, INT64_MIN);
    types_numbers(1, 2, 3, 4, -1, -2, -3, -4);
    types_floats(1.5f, -2.25);
    types_others(true, NULL, types_color_green);
    types_others(false, (const void *)(uintptr_t)0x1234, types_color_blue);
    types_texts("north", "h\xC3\xA9llo", "\0\1\2", 3);
    types_texts("south", "", NULL, 0);
    types_texts("north", "again", "x", 1);
    types_texts("", "nobody", "", 0);
    types_fixed(bytes, doubles, colors, flags);
    types_counted(shorts, 4, longs, 2, colors, 2, names, 3);
    types_counted(NULL, 0, NULL, 0, NULL, 0, NULL, 0);
    types_dated(before);
    types_bare();
    types_placed(7);
    types_placed_bare();
    types_outer_begin();
    for (n = 0; n < 3; n++) {
        types_step_begin(n);
        types_silent(n);
        types_loud(n);
        types_step_end();
    }
    types_outer_end();
    (void)tumit1_set_level("QUIET", 1);
    (void)tumit1_set_level("LOUD", 0);
    types_silent(100);
    types_loud(100);
    return 0;
}
