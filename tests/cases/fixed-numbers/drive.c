/* Fixed arrays of every kind of number. */
#include "fixed_numbers_trace.h"

#include <math.h>

int main(void) {
    const uint8_t u8[3] = {1, 2, UINT8_MAX};
    const uint16_t u16[2] = {3, UINT16_MAX}, one[1] = {7};
    const uint32_t u32[2] = {4, UINT32_MAX};
    const uint64_t u64[2] = {5, UINT64_MAX};
    const int8_t i8[3] = {1, INT8_MIN, INT8_MAX};
    const int16_t i16[2] = {INT16_MIN, INT16_MAX};
    const int32_t i32[2] = {INT32_MIN, INT32_MAX};
    const int64_t i64[2] = {INT64_MIN, INT64_MAX};
    const float singles[2] = {0.5f, -0.0f};
    const double doubles[2] = {-1e300, (double)INFINITY};
    int32_t many[100];
    int n;
    for (n = 0; n < 100; n++) {
        many[n] = -n;
    }
    fixed_numbers_unsigned4(u8, u16, u32, u64);
    fixed_numbers_signed4(i8, i16, i32, i64);
    fixed_numbers_floating(singles, doubles);
    fixed_numbers_odd(one, many);
    return 0;
}
