/* Dates from a user clock as parameters. */
#include "dates_trace.h"

static uint64_t now = 1000;
static uint64_t ticks(void) { return now; }

int main(void) {
    tumit1_date pair[2], three[3];
    if (tumit1_set_clock(ticks, 1000000, "corpus") != 0) {
        return 1;
    }
    pair[0] = tumit1_now();
    now += 500;
    pair[1] = tumit1_now();
    dates_one(pair[0]);
    dates_one(pair[1]);
    dates_one(0);
    dates_one(UINT64_MAX);
    three[0] = three[2] = pair[1];
    three[1] = pair[0];
    dates_several(pair, three, 3);
    pair[0] = pair[1];
    dates_several(pair, NULL, 0);
    return 0;
}
