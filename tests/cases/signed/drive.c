/* Signed integers of all widths, at their limits. */
#include "signed_numbers_trace.h"

int main(void) {
    signed_numbers_all(INT8_MIN, INT16_MIN, INT32_MIN, INT64_MIN);
    signed_numbers_all(-1, -1, -1, -1);
    signed_numbers_all(0, 0, 0, 0);
    signed_numbers_all(INT8_MAX, INT16_MAX, INT32_MAX, INT64_MAX);
    return 0;
}
