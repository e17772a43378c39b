/* The arithmetic of a Fourier transform, without MPI. */

#ifndef ARITHMETIC_H
#define ARITHMETIC_H

#include <complex.h>

typedef double complex point;

enum direction { FORWARD = -1, INVERSE = 1 };

/* The root of unity exp(± 2 pi i k/n). */
point root(enum direction direction, long k, long n);

/* The number with its lowest `bits` bits in reverse order. */
int reverse_bits(int number, int bits);

/* The exponent of a power of two. -1 if the number is no power of two. */
int log2_of(int number);

/* The input: two oscillations and noise, which is a hash of the number of the point. */
point input(int number, int points);

/* The square of the absolute value. */
double square(point value);

/* The sum of the squares of some points. */
double energy(const point *block, int length);

/* All stages within one block. A stage consists of butterflies. A butterfly joins points u and v
   that are `half` points apart. The forward transform makes them u + v and (u - v) w, the inverse
   transform u + v w and u - v w, with a root of unity w. */
void local_stages(point *block, int length, enum direction direction);

#endif
