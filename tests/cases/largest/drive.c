/* The largest record of a fixed size: 32 KiB with id and delta. */
#include "largest_trace.h"

int main(void) {
    static uint8_t bytes[32762];
    static uint64_t words[4095];
    unsigned n, round;
    for (round = 0; round < 4; round++) {
        for (n = 0; n < 32762; n++) {
            bytes[n] = (uint8_t)((n % 251) ^ round);
        }
        for (n = 0; n < 4095; n++) {
            words[n] = (uint64_t)n * round;
        }
        largest_huge(bytes);
        largest_tick(round);
        largest_wide(words);
    }
    return 0;
}
