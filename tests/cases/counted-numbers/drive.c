/* Variable arrays of every kind of number. */
#include "counted_numbers_trace.h"

#include <math.h>

int main(void) {
    static uint32_t many[2000];
    const uint8_t u8[3] = {1, 2, UINT8_MAX};
    const uint16_t u16[1] = {UINT16_MAX};
    const uint32_t u32[2] = {4, UINT32_MAX}, tens[3] = {10, 20, 30};
    const uint64_t u64[1] = {UINT64_MAX};
    const int8_t i8[2] = {INT8_MIN, -1};
    const int16_t i16[1] = {INT16_MIN};
    const int32_t i32[3] = {INT32_MIN, 0, INT32_MAX};
    const int64_t i64[1] = {INT64_MIN};
    const float singles[3] = {0.5f, -0.0f, (float)INFINITY};
    const double doubles[1] = {-(double)INFINITY};
    uint32_t n;
    for (n = 0; n < 2000; n++) {
        many[n] = n * n;
    }
    counted_numbers_unsigned4(u8, 3, u16, 1, u32, 2, u64, 1);
    counted_numbers_unsigned4(NULL, 0, NULL, 0, NULL, 0, NULL, 0);
    counted_numbers_signed4(i8, 2, i16, 1, i32, 3, i64, 1);
    counted_numbers_floating(singles, 3, doubles, 1);
    counted_numbers_between(1, tens, 3, 2);
    counted_numbers_between(3, NULL, 0, 4);
    counted_numbers_between(5, many, 2000, 6);
    return 0;
}
