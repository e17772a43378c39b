/* Documentation with odd signs in every place where it can stand. */
#include "docs_trace.h"

int main(void) {
    const uint8_t list[2] = {3, 4};
    docs_tick(1, docs_color_green);
    docs_here(2);
    docs_step_begin(list);
    docs_tick(5, docs_color_red);
    docs_step_end();
    return 0;
}
