/* Many records, over several blocks. */
#include "blocks_trace.h"

int main(void) {
    uint64_t n;
    for (n = 0; n < 20000; n++) {
        blocks_tick(n * n);
        blocks_step_begin((uint32_t)n, n % 3 == 0 ? "third" : "");
        blocks_step_end();
    }
    return 0;
}
