/* Spans with their source position. */
#include "located_spans_trace.h"

int main(void) {
    uint32_t n;
    for (n = 0; n < 2; n++) {
        located_spans_step_begin(n);
        located_spans_inside(n);
        located_spans_step_end();
    }
    located_spans_bare_begin();
    located_spans_step_begin(7);
    located_spans_step_end();
    located_spans_bare_end();
    return 0;
}
