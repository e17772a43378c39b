/* C has no guards. The ends are called in the order in which blocks end in other languages. */
#include "guards_trace.h"

int main(void) {
    int i;
    guards_step_begin(1);
    guards_bare_begin();
    guards_tick();
    guards_bare_end();
    guards_step_end();
    guards_step_begin(2);
    guards_tick();
    guards_step_end();
    for (i = 0; i < 2; i++) {
        guards_placed_begin("loop");
        guards_placed_end();
    }
    guards_task_part_begin(7, 1);
    guards_step_begin(3);
    guards_tick();
    guards_step_end();
    guards_task_part_end(7);
    return 0;
}
