/* Ten thousand interned strings, each recorded twice. */
#include <stdio.h>
#include "many_strings_trace.h"

int main(void) {
    char name[32];
    uint32_t n, round;
    for (round = 0; round < 2; round++) {
        for (n = 0; n < 10000; n++) {
            snprintf(name, sizeof name, "name %u", (unsigned)(n * 2654435761u % 10000));
            many_strings_use(name, round);
        }
    }
    return 0;
}
