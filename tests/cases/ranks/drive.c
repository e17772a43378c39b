/* The rank, the size and the id of a job, as launchers tell them. */
#include "ranks_trace.h"

int main(void) {
    ranks_tick(1);
    return 0;
}
