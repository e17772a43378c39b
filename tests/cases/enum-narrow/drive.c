/* An enum of few values takes one byte; it may have a single value. */
#include "narrow_trace.h"

int main(void) {
    narrow_paint(narrow_color_red, narrow_only_one);
    narrow_paint(narrow_color_green, narrow_only_one);
    narrow_paint(narrow_color_blue, narrow_only_one);
    narrow_paint(narrow_color_red, narrow_only_one);
    return 0;
}
