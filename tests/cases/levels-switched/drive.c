/* Levels that are switched while the program runs. */
#include "switched_trace.h"

static void all(uint32_t n) {
    switched_a(n);
    switched_b(n);
    switched_s_begin(n);
    switched_t_begin(n);
    switched_t_end();
    switched_s_end();
}

int main(void) {
    all(1);
    (void)tumit1_set_level("OFF_LEVEL", 1);
    all(2);
    (void)tumit1_set_level("ON_LEVEL", 0);
    all(3);
    (void)tumit1_set_level("off_level", 0);
    all(4);
    (void)tumit1_set_level("all", 1);
    all(5);
    (void)tumit1_set_level("switched.ON_LEVEL", 0);
    all(6);
    (void)tumit1_set_level("other.OFF_LEVEL", 0);
    (void)tumit1_set_level("NO_SUCH_LEVEL", 1);
    all(7);
    (void)tumit1_set_level("ALL", 0);
    all(8);
    return 0;
}
