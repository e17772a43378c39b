/* Bools are one byte, 0 or 1, alone and in arrays. */
#include "bools_trace.h"

int main(void) {
    const bool first[3] = {true, false, true};
    const bool none[3] = {false, false, false};
    const bool two[2] = {false, true};

    bools_one(true);
    bools_one(false);
    bools_several(first, two, 2);
    bools_several(none, NULL, 0);
    return 0;
}
