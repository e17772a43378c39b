/* Long strings: what is larger than a block is dropped and counted. */
#include "strings_long_trace.h"

int main(void) {
    static const size_t lengths[6] = {1000, 30000, 60000, 65000, 65535, 65536};
    static char text[65537];
    int i;
    for (i = 0; i < 6; i++) {
        memset(text, 'x', lengths[i]);
        strings_long_say(text);
    }
    strings_long_done();
    return 0;
}
