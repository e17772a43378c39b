/* Whether code belongs to a library that runs parallel programs, such as MPI or OpenMP. Its own
 * threads and locks are not those of the program. */

#ifndef TUMIT_RUNTIME_CODE_H
#define TUMIT_RUNTIME_CODE_H

/* Later calls with the same address need no search. */
int tumit_is_runtime_code(const void *address);

/* Whether this program starts others, such as `mpirun`. */
int tumit_is_launcher(void);

#endif
