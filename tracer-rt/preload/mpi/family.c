/* The wrappers of MPI's procedures for one family of libraries, which FAMILY names. `mpi.h` is that
 * of the folder `abi/FAMILY`. */

#define _GNU_SOURCE

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include "preload.h"

#include "mpi_functions.h"

/* The functions that a call of the program continues with: those of the next library that wraps
 * MPI, or of MPI. */
static struct mpi_functions next;
/* The functions of MPI itself, for calls from inside of MPI and of the recorder. */
static struct mpi_functions inner;

#include "process.h"
#include "datatypes.h"
#include "communicators.h"
#include "matching.h"
#include "requests.h"
#include "collectives.h"
#include "job.h"
#include "sends.h"
#include "receives.h"
#include "completions.h"

#include "mpi_wrappers.h"

#define JOINED_NAME(one, two) one##two
#define FAMILY_FUNCTION(family) JOINED_NAME(tumit_mpi_wrappers_, family)

void *const *FAMILY_FUNCTION(FAMILY)(void *library) {
    void **next_functions = (void **)&next, **inner_functions = (void **)&inner;
    size_t i;
    for (i = 0; i < sizeof function_names / sizeof function_names[0]; i++) {
        next_functions[i] = tumit_mpi_function_named(library, "", function_names[i]);
        inner_functions[i] = tumit_mpi_function_named(library, "P", function_names[i]);
    }
    find_handles(library);
    return wrappers;
}
