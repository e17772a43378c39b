/* Ends of spans with parameters, and ends without. */
#include "ends_trace.h"

static uint64_t now = 1000000;
static uint64_t ticks(void) { return now; }
static void at(uint64_t microseconds) { now = 1000000 + microseconds; }

int main(void) {
    const uint16_t values[2] = {7, 8};
    int n;
    if (tumit1_set_clock(ticks, 1000000, "ends") != 0) {
        return 1;
    }
    ends_wait_begin(1);
    at(10);
    ends_wait_end(-3, (uint64_t)1 << 40);
    ends_wait_begin(2);
    at(20);
    ends_wait_end_absent();
    at(30);
    ends_wait_begin(3);
    ends_probe_begin();
    ends_tick();
    at(40);
    ends_probe_end(0);
    ends_wait_end(0, 0);
    ends_probe_begin();
    ends_probe_end_absent();
    at(50);
    for (n = 0; n < 2; n++) {
        ends_load_begin("input");
        if (n == 0) {
            ends_load_end("done", "a text", values, 2);
        } else {
            ends_load_end_absent();
        }
    }
    ends_fetch_begin(9, "a");
    ends_placed_begin(UINT64_MAX);
    at(60);
    ends_placed_end(UINT64_MAX, true);
    ends_fetch_end(9, 404);
    at(70);
    ends_placed_begin(5);
    ends_fetch_begin(9, "b");
    at(80);
    ends_fetch_end_absent(9);
    ends_placed_end_absent(5);
    return 0;
}
