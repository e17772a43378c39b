/* Rank, size and id of a job, from the environment variables of launchers. */
#include "ranks_trace.h"

int main(void) {
    ranks_tick(1);
    return 0;
}
