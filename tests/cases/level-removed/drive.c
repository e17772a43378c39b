/* A level that the program compiles out. */
#define REMOVED_OFF_APP
#include "removed_trace.h"

int main(void) {
    const uint16_t list[2] = {1, 2};
    const double fixed[2] = {0.5, 1.5};
    uint32_t n;
    (void)tumit1_set_level("APP", 1);
    for (n = 0; n < 3; n++) {
        removed_send_begin(n);
        removed_work_begin(n);
        removed_place_begin(n);
        removed_step(n, "never", list, 2, fixed);
        removed_here(n);
        removed_post(n);
        removed_place_end();
        removed_work_end();
        removed_send_end();
    }
    return 0;
}
