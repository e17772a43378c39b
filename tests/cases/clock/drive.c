/* A user clock. */
#include "own_clock_trace.h"

static uint64_t now = 7;
static uint64_t ticks(void) { return now; }
static uint64_t zero(void) { return 0; }

int main(void) {
    uint32_t n;
    if (tumit1_set_clock(ticks, 1000, "steps") != 0) {
        return 1;
    }
    for (n = 0; n < 10; n++) {
        own_clock_tick(n);
        now += n;
        own_clock_step_begin(tumit1_now());
        now += 100;
        own_clock_step_end();
    }
    if (tumit1_set_clock(zero, 1, "too late") == 0) {
        return 1;
    }
    own_clock_tick(10);
    return 0;
}
