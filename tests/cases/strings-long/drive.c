/* Long strings: records that are larger than a slot are truncated. */
#include "strings_long_trace.h"

static char text[65537], accents[65536];

int main(void) {
    static const size_t lengths[6] = {1000, 30000, 60000, 65000, 65535, 65536};
    int i;
    for (i = 0; i < 6; i++) {
        memset(text, 'x', lengths[i]);
        strings_long_say(text);
    }
    for (i = 0; i < 32000; i++) {
        memcpy(accents + 2 * i, "\303\251", 2);
    }
    strings_long_three("short", accents, "x", "y", 1);
    text[40000] = '\0';
    strings_long_three("", text, accents, text, 300);
    text[39999] = '\0';
    strings_long_three("both", text, accents, text, 30000);
    strings_long_done();
    return 0;
}
