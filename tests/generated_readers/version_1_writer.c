/* Records a run of the old spec. */
#include "grow_trace.h"

int main(void) {
    const int8_t few[2] = {-1, 100};
    grow_a(7, grow_tint_green, 9, "first", few, 2);
    grow_old(1);
    grow_a(8, grow_tint_red, 9, "second", few, 1);
    grow_a(65535, grow_tint_violet, 9, "", NULL, 0);
    {
        uint64_t task = tumit1_new_task();
        grow_work_begin(task, 3);
        grow_work_end(task);
    }
    return 0;
}
