/* A long interned string is kept up to its limit, and cut between characters beyond it. */
#include "interned_long_trace.h"

int main(void) {
    static char text[4101];
    memset(text, 'x', 4096);
    interned_long_one(text);
    memcpy(text + 4096, "more", 5);
    interned_long_one(text);
    /* A character of two bytes lies across the limit. */
    memset(text, 'y', 4095);
    memcpy(text + 4095, "\xC3\xA9", 3);
    interned_long_one(text);
    return 0;
}
