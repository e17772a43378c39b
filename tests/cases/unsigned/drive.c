/* Unsigned integers of all widths, at their limits. */
#include "unsigned_numbers_trace.h"

int main(void) {
    unsigned_numbers_bytes1(0);
    unsigned_numbers_bytes1(1);
    unsigned_numbers_bytes1(UINT8_MAX);
    unsigned_numbers_bytes2(0);
    unsigned_numbers_bytes2(256);
    unsigned_numbers_bytes2(UINT16_MAX);
    unsigned_numbers_bytes4(0);
    unsigned_numbers_bytes4(65536);
    unsigned_numbers_bytes4(UINT32_MAX);
    unsigned_numbers_bytes8(0);
    unsigned_numbers_bytes8((uint64_t)1 << 32);
    unsigned_numbers_bytes8(UINT64_MAX);
    unsigned_numbers_mixed(1, 2, 3, 4, 5);
    return 0;
}
