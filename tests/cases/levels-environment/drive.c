/* What TUMIT_LEVELS says about levels. */
#include "environment_trace.h"

int main(void) {
    uint32_t n;
    for (n = 0; n < 2; n++) {
        environment_one(n);
        environment_two(n);
        environment_three(n);
    }
    /* What the program says wins. */
    (void)tumit1_set_level("THIRD", 1);
    environment_three(100);
    return 0;
}
