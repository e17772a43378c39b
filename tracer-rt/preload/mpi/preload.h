/* Data that all families share. */

#ifndef TUMIT_PRELOAD_H
#define TUMIT_PRELOAD_H

#include <stdint.h>

/* Number of calls of MPI procedures on the stack of this thread. Only the outermost one is
 * recorded, because libraries implement procedures by calling others. */
extern __thread int tumit_mpi_depth;

/* The wrappers of a family. Fills its tables of MPI's own functions first. */
void *const *tumit_mpi_wrappers_openmpi(void *library);
void *const *tumit_mpi_wrappers_mpich(void *library);
void *const *tumit_mpi_wrappers_standard(void *library);

/* The function of MPI with this name, after this library in the search order. Without one, it
 * returns a function that prints the name and ends the process. */
void *tumit_mpi_function_named(void *library, const char *prefix, const char *name);

/* ---- Recording functions: those that the spec generates, once for all families ---- */

typedef uint64_t tumit_mpi_date;

/* The kinds of collective operations, as in the spec. */
enum { COLLECTIVE_barrier, COLLECTIVE_one_to_all, COLLECTIVE_all_to_one, COLLECTIVE_all_to_all, COLLECTIVE_none };
/* The directions of one-sided transfers, as in the spec. */
enum { TRANSFER_none, TRANSFER_put, TRANSFER_get, TRANSFER_both };

tumit_mpi_date tumit_mpi_now(void);
void tumit_mpi_begin_job(int procedure);
void tumit_mpi_end_job(void);
void tumit_mpi_begin_point_to_point(int procedure);
void tumit_mpi_end_point_to_point(void);
void tumit_mpi_record_send(uint64_t communicator, int to, int tag, uint32_t number, uint64_t bytes);
void tumit_mpi_record_receive(uint64_t communicator, int from, int tag, uint32_t number, uint64_t bytes);
void tumit_mpi_record_late_receive(uint64_t communicator, int from, int tag, uint32_t number, uint64_t bytes,
                                   tumit_mpi_date arrival);
void tumit_mpi_record_partitioned_send(uint64_t communicator, int to, int tag, uint32_t request, uint32_t start,
                                       uint64_t bytes);
void tumit_mpi_record_partitioned_receive(uint64_t communicator, int from, int tag, uint32_t request, uint32_t start,
                                          uint64_t bytes);
void tumit_mpi_record_successful_test(int procedure, tumit_mpi_date call_start, uint32_t failures);
void tumit_mpi_begin_collective_record(int procedure, int kind, const char *communicator, uint32_t size, int root,
                                       uint64_t bytes);
void tumit_mpi_end_collective(void);
void tumit_mpi_begin_operation(int procedure, int kind, const char *communicator, uint32_t size, int root,
                               uint64_t bytes, uint32_t row, uint32_t number, uint32_t start);
void tumit_mpi_end_operation(uint32_t row);
void tumit_mpi_begin_one_sided(int procedure, int transfer, int target, uint64_t bytes);
void tumit_mpi_end_one_sided(int transfer, int target);
void tumit_mpi_begin_fence(const char *window, int is_barrier);
void tumit_mpi_end_fence(void);
void tumit_mpi_begin_window_lock(const char *window, int target);
void tumit_mpi_end_window_lock(const char *window, int target);
void tumit_mpi_begin_window_unlock(void);
void tumit_mpi_end_window_unlock(const char *window, int target);
void tumit_mpi_record_end_access(const char *window, int to, uint32_t number);
void tumit_mpi_record_end_exposure(const char *window, int from, uint32_t number);
void tumit_mpi_begin_file(int procedure, uint64_t bytes);
void tumit_mpi_end_file(void);
void tumit_mpi_begin_topology(int procedure);
void tumit_mpi_end_topology(void);
void tumit_mpi_record_communicator(uint64_t communicator, const char *name, const char *mpi_name, uint32_t rank,
                                   uint32_t size);
void tumit_mpi_begin_query(int procedure);
void tumit_mpi_end_query(void);

/* ---- The recorder ---- */

/* Bytes of a message of `tumit_mpi_take_samples`. */
#define SAMPLE_BYTES 24

/* Takes samples of the clocks of all processes. The functions send and receive a message of
 * SAMPLE_BYTES, and return 0 or an errno. */
void tumit_mpi_take_samples(int rank, int ranks, int (*send)(void *, uint32_t, const void *),
                            int (*receive)(void *, uint32_t, void *));
void tumit_mpi_set_rank(int rank, int ranks);
/* Whether a variable of the launcher contains the rank of this process. Recording must not start
 * before the rank is known. */
int tumit_mpi_knows_rank(void);
void tumit_mpi_flush(void);
void tumit_mpi_pause(void);
void tumit_mpi_resume(void);

#endif
