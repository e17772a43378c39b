/* Events with their source position. */
#include "located_trace.h"

int main(void) {
    const uint16_t list[2] = {1, 2};
    uint32_t n;
    for (n = 0; n < 3; n++) {
        located_here(n);
    }
    located_here(10);
    located_bare();
    located_plain(1);
    located_full("name", "text", list, 2, "\0\1", 2, true);
    for (n = 0; n < 2; n++) {
        located_bare();
    }
    located_here(20);
    return 0;
}
