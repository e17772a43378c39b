/* What the parts of the sampler know of each other. */

#ifndef SAMPLER_H
#define SAMPLER_H

#include <stdint.h>

/* What the trace should show: counted where it is recorded, for those who compare. */
struct counts {
    unsigned long containers, states, variables, events;
};
extern struct counts counts;

/* Says what went wrong with what, and ends the program. */
void fail(const char *what);

/* Memory that grows: room for `wanted` elements of `size` bytes. */
void *grow(void *memory, size_t wanted, size_t size);

/* machine.c: the machine as a whole, and its processes. The first sample records nothing: rates need two. `seconds` have
 * passed since the one before; the `top` busiest processes join those that are watched. */
void sample_machine(double seconds);
void sample_processes(double seconds, unsigned top);

/* jobs.c: reservations on the cluster. Their time is counted in samples. */
void jobs_from_file(const char *path);
void jobs_from_seed(uint64_t seed);
void sample_jobs(uint32_t now);

#endif
