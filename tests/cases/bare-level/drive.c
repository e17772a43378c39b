/* A level without events next to one with events. */
#include "bare_level_trace.h"

int main(void) {
    (void)tumit1_set_level("NOTHING", 0);
    bare_level_tick(1);
    (void)tumit1_set_level("NOTHING_OFF", 1);
    bare_level_tick(2);
    return 0;
}
