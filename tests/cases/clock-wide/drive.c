/* Dates far apart. */
#include "far_dates_trace.h"

#define DELTA ((uint64_t)UINT32_MAX)

static uint64_t now = 0;
static uint64_t ticks(void) { return now; }

int main(void) {
    static const uint64_t dates[9] = {0,
                                      DELTA,
                                      2 * DELTA,
                                      3 * DELTA + 1,
                                      3 * DELTA + 2,
                                      (uint64_t)1 << 40,
                                      ((uint64_t)1 << 40) + DELTA,
                                      (uint64_t)1 << 63,
                                      UINT64_MAX - 1};
    uint32_t n;
    if (tumit1_set_clock(ticks, 1000000000u, "far") != 0) {
        return 1;
    }
    for (n = 0; n < 9; n++) {
        now = dates[n];
        far_dates_tick(n);
        far_dates_tick(100 + n);
    }
    return 0;
}
