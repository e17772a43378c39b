/* A flush in the middle of the program. */
#include "flushed_trace.h"

int main(void) {
    tumit1_flush();
    flushed_tick(1, "before");
    tumit1_flush();
    tumit1_flush();
    flushed_step_begin();
    flushed_tick(2, "after");
    tumit1_flush();
    flushed_tick(3, "before");
    flushed_step_end();
    return 0;
}
