// Guards end a span with their block, also when an exception leaves it.
#include "guards_trace.h"

#include <utility>

static void fails() {
    guards_step_scope step(2);
    guards_tick();
    throw 1;
}

int main() {
    {
        guards_step_scope step(1);
        guards_bare_scope bare;
        guards_tick();
    }
    try {
        fails();
    } catch (int) {
    }
    for (int i = 0; i < 2; i++) {
        auto placed = guards_placed_scope("loop");
    }
    guards_task_part_scope part(7, 1);
    guards_step_scope moved(3);
    {
        guards_step_scope last(std::move(moved));
        guards_tick();
    }
    return 0;
}
