/* Spans: a call for each end. */
#include "spans_trace.h"

int main(void) {
    const uint16_t parts[3] = {1, 2, 3};
    uint32_t n;
    for (n = 0; n < 3; n++) {
        spans_step_begin(n);
        spans_between(n);
        spans_step_end();
    }
    spans_pause_begin();
    spans_pause_end();
    spans_read_begin("a.txt", (uint64_t)1 << 40, parts, 3, "quickly");
    spans_between(100);
    spans_read_end();
    spans_step_begin(UINT32_MAX);
    spans_step_end();
    return 0;
}
