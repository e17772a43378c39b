/* A counter of 32 bits that wraps. */
#include "wrap_trace.h"

static uint32_t now = 0;
static uint64_t ticks(void) { return now; }

int main(void) {
    static const uint32_t dates[10] = {5u, 4294967290u, 7u, 2000000000u, 4000000000u, 0u, 3u, 2000000000u, 1000000000u, 2000000001u};
    uint32_t n;
    if (tumit1_set_clock(ticks, 1000000000u, "wrap") != 0) {
        return 1;
    }
    for (n = 0; n < 10; n++) {
        now = dates[n];
        wrap_tick(n);
    }
    return 0;
}
