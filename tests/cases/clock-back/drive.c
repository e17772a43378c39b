/* A clock that goes back. */
#include "back_trace.h"

static uint64_t now = 5000;
static uint64_t ticks(void) { return now; }

int main(void) {
    static const uint64_t dates[9] = {5000, 6000, 5500, 5000, 0, 5999, 6000, 6001, 6000};
    uint32_t n;
    if (tumit1_set_clock(ticks, 1000, "back") != 0) {
        return 1;
    }
    for (n = 0; n < 9; n++) {
        now = dates[n];
        back_tick(n);
        back_step_begin();
        back_step_end();
    }
    return 0;
}
