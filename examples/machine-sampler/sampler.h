/* The interface between the files of the sampler. */

#ifndef SAMPLER_H
#define SAMPLER_H

#include <stdint.h>

/* Expected contents of the trace, counted where they are recorded, for comparison. */
struct counts {
    unsigned long containers, states, variables, events;
};
extern struct counts counts;

/* Prints the message with the text of `errno`, and ends the program. */
void fail(const char *what);

/* Grows memory to `wanted` elements of `size` bytes. */
void *grow(void *memory, size_t wanted, size_t size);

/* machine.c: the machine as a whole, and its processes. The first sample records nothing, because
 * rates need two. `seconds` is the time since the previous sample; the `top` busiest processes are
 * watched from then on. */
void sample_machine(double seconds);
void sample_processes(double seconds, unsigned top);

/* jobs.c: reservations on the cluster. Their time is counted in samples. */
void jobs_from_file(const char *path);
void jobs_from_seed(uint64_t seed);
void sample_jobs(uint32_t now);

#endif
