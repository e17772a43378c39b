/* Levels selected by TUMIT_LEVELS. */
#include "environment_trace.h"

int main(void) {
    uint32_t n;
    for (n = 0; n < 2; n++) {
        environment_one(n);
        environment_two(n);
        environment_three(n);
    }
    /* The choice of the program wins. */
    (void)tumit1_set_level("THIRD", 1);
    environment_three(100);
    return 0;
}
