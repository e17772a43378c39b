/* Records that are larger than the rest of a block begin the next one. */
#include "block_rest_trace.h"

static char text[64001];

static void large(size_t length) {
    char last = text[length];
    text[length] = '\0';
    block_rest_large(text);
    text[length] = last;
}

int main(void) {
    size_t n;
    for (n = 0; n < 64000; n++) {
        text[n] = (char)('a' + n % 26);
    }
    for (n = 0; n < 20; n++) {
        large(n * 3331 % 64000);
        block_rest_small((uint8_t)n);
    }
    for (n = 0; n < 3; n++) {
        large(40000);
        block_rest_small((uint8_t)n);
    }
    return 0;
}
