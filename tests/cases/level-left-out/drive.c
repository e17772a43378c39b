/* A level that the generator leaves out. */
#include "left_out_trace.h"

int main(void) {
    const uint16_t list[2] = {1, 2};
    const double fixed[2] = {0.5, 1.5};
    (void)tumit1_set_level("all", 1);
    left_out_work_begin(1);
    left_out_step(1, "never", list, 2, fixed, "never", left_out_color_green, tumit1_now());
    left_out_here();
    left_out_post(2);
    left_out_done();
    left_out_work_end();
    return 0;
}
