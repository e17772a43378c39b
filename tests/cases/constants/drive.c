/* Constants as lengths of arrays. */
#include "constants_trace.h"

int main(void) {
    const uint8_t two[2] = {1, 2};
    uint16_t ten[10];
    int8_t sixteen[16];
    const bool binary[5] = {true, false, true, false, true};
    int n;
    for (n = 0; n < 10; n++) {
        ten[n] = (uint16_t)(n * 100);
    }
    for (n = 0; n < 16; n++) {
        sixteen[n] = (int8_t)-n;
    }
    constants_arrays(two, ten, sixteen, binary);
    return 0;
}
