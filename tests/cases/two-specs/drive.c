/* Two specs in one program. */
#include "first_trace.h"
#include "second_trace.h"

int main(void) {
    first_tick(1);
    second_tick(1.5);
    first_paint(first_color_red, "wall");
    second_paint(second_color_red, "door");
    second_paint(second_color_blue, "wall");
    first_work_begin(2);
    second_work_begin("two");
    first_step(3);
    second_step(-3);
    (void)tumit1_set_level("first.APP", 1);
    (void)tumit1_set_level("second.app", 0);
    first_step(4);
    second_step(-4);
    (void)tumit1_set_level("APP", 1);
    second_step(-5);
    second_work_end();
    first_work_end();
    return 0;
}
