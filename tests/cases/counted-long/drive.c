/* Long variable arrays: records that are larger than a slot are truncated. */
#include "counted_long_trace.h"

int main(void) {
    static const size_t small[6] = {255, 256, 65000, 65535, 65536, 70000}, wide[3] = {8000, 8192, 70000};
    static uint8_t bytes[70000];
    static double doubles[70000];
    int i;
    for (i = 0; i < 6; i++) {
        memset(bytes, (int)(small[i] & 0xFF), small[i]);
        counted_long_small(bytes, small[i]);
    }
    for (i = 0; i < 70000; i++) {
        doubles[i] = 0.5;
    }
    for (i = 0; i < 3; i++) {
        counted_long_wide(doubles, wide[i]);
    }
    counted_long_done();
    return 0;
}
