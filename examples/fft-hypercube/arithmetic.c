/* The arithmetic of a Fourier transform, without MPI. */

#include "arithmetic.h"

#include <math.h>
#include <stdint.h>

point root(enum direction direction, long k, long n) {
    double angle = (double)direction * 2.0 * 3.14159265358979323846 * (double)k / (double)n;
    return cos(angle) + I * sin(angle);
}

int reverse_bits(int number, int bits) {
    int reversed = 0;
    for (int bit = 0; bit < bits; bit++) {
        reversed |= (number >> bit & 1) << (bits - 1 - bit);
    }
    return reversed;
}

int log2_of(int number) {
    int exponent = 0;
    if (number < 1 || (number & (number - 1)) != 0) {
        return -1;
    }
    while (number >> exponent != 1) {
        exponent++;
    }
    return exponent;
}

point input(int number, int points) {
    uint64_t hash = ((uint64_t)number + 1) * UINT64_C(0x9E3779B97F4A7C15);
    double noise;
    hash ^= hash >> 32;
    hash *= UINT64_C(0xD6E8FEB86659FD93);
    noise = (double)(hash >> 11) / 9007199254740992.0 - 0.5;
    return root(INVERSE, 3L * number % points, points) + 0.5 * root(INVERSE, 17L * number % points, points) + noise;
}

double square(point value) { return creal(value) * creal(value) + cimag(value) * cimag(value); }

double energy(const point *block, int length) {
    double sum = 0.0;
    for (int i = 0; i < length; i++) {
        sum += square(block[i]);
    }
    return sum;
}

/* The butterflies of a stage. */
static void local_stage(point *block, int length, enum direction direction, int half) {
    for (int i = 0; i < half; i++) {
        point w = root(direction, i, 2L * half);
        for (int at = i; at < length; at += 2 * half) {
            point u = block[at], v = block[at + half];
            block[at] = direction == FORWARD ? u + v : u + v * w;
            block[at + half] = direction == FORWARD ? (u - v) * w : u - v * w;
        }
    }
}

void local_stages(point *block, int length, enum direction direction) {
    if (direction == FORWARD) {
        for (int half = length / 2; half >= 1; half /= 2) {
            local_stage(block, length, direction, half);
        }
    } else {
        for (int half = 1; half < length; half *= 2) {
            local_stage(block, length, direction, half);
        }
    }
}
