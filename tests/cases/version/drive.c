/* A spec with a version. */
#include "versioned_trace.h"

int main(void) {
    versioned_tick(1);
    return 0;
}
