/* Several levels. */
#include "several_levels_trace.h"

int main(void) {
    several_levels_f(1);
    several_levels_e(2);
    several_levels_c(3);
    several_levels_b(4);
    several_levels_d_begin(5);
    several_levels_a(6);
    several_levels_d_end();
    (void)tumit1_set_level("THREE", 1);
    several_levels_e(7);
    return 0;
}
