/* Arrays of enums, narrow and wide, fixed and variable. */
#include "enum_arrays_trace.h"

int main(void) {
    const enum enum_arrays_color colors[4] = {enum_arrays_color_blue, enum_arrays_color_red, enum_arrays_color_green,
                                              enum_arrays_color_green};
    const enum enum_arrays_wide sizes[2] = {enum_arrays_wide_high, enum_arrays_wide_low};
    const enum enum_arrays_wide high[3] = {enum_arrays_wide_high, enum_arrays_wide_high, enum_arrays_wide_high};

    enum_arrays_fixed(colors, sizes);
    enum_arrays_counted(colors, 4, sizes, 2);
    enum_arrays_counted(colors, 1, NULL, 0);
    enum_arrays_counted(NULL, 0, high, 3);
    return 0;
}
