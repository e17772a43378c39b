/* Floats: signed zeros, infinities, not a number, the smallest and the largest. */
#include "floats_trace.h"

#include <float.h>
#include <math.h>

static float single(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static double twice(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

int main(void) {
    floats_pair(0.0f, 0.0);
    floats_pair(-0.0f, -0.0);
    floats_pair(0.1f, 0.1);
    floats_pair((float)INFINITY, (double)INFINITY);
    floats_pair(-(float)INFINITY, -(double)INFINITY);
    floats_pair(FLT_MAX, DBL_MAX);
    floats_pair(FLT_MIN, DBL_MIN);
    /* NaN, and NaN with other bits: the bits are kept. */
    floats_pair(single(0x7FC00000u), twice(0x7FF8000000000000u));
    floats_pair(single(0xFFC01234u), twice(0xFFF8000000001234u));
    /* The smallest of all. */
    floats_pair(single(1), twice(1));
    return 0;
}
