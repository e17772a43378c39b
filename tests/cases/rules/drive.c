/* Rules of every verb, seen through the converter. */
#include "ruled_trace.h"

static uint64_t now = 1000000;
static uint64_t ticks(void) { return now; }
static void at(uint64_t microseconds) { now = 1000000 + microseconds; }

int main(void) {
    const uint16_t list[2] = {7, 8};
    tumit1_date since;
    if (tumit1_set_clock(ticks, 1000000, "rules") != 0) {
        return 1;
    }
    ruled_start(0, "server");
    ruled_start(1, "client");
    at(10);
    ruled_enter(0, ruled_mode_busy);
    ruled_load(0, 0.5);
    at(20);
    ruled_send(0, 1, 77, 1024);
    since = tumit1_now();
    at(30);
    ruled_receive(1, 77, since);
    ruled_load(0, -1.0);
    ruled_say(1, "hello", list, 2);
    at(40);
    ruled_leave(0);
    ruled_stop(0);
    at(50);
    ruled_stop(1);
    return 0;
}
