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

/* The functions `MPI_*`, for calls of the program. If the program has another library of wrappers,
 * they are in this library, and otherwise in MPI. */
static struct mpi_functions mpi;
/* The functions `PMPI_*` of MPI, for calls from inside of MPI and of the recorder. */
static struct mpi_functions pmpi;

#include "process.h"
#include "datatypes.h"
#include "channels.h"
#include "communicators.h"
#include "receive_heaps.h"
#include "matching.h"
#include "collectives.h"
#include "requests.h"
#include "job.h"
#include "sends.h"
#include "receives.h"
#include "partitioned.h"
#include "completions.h"
#include "windows.h"

#include "mpi_wrappers.h"

#define CONCATENATE(prefix, suffix) prefix##suffix
#define FAMILY_FUNCTION(family) CONCATENATE(tumit_mpi_wrappers_, family)

void *const *FAMILY_FUNCTION(FAMILY)(void *library) {
    void **mpi_functions = (void **)&mpi, **pmpi_functions = (void **)&pmpi;
    size_t i;
    for (i = 0; i < sizeof function_names / sizeof function_names[0]; i++) {
        mpi_functions[i] = tumit_mpi_function_named(library, "", function_names[i]);
        pmpi_functions[i] = tumit_mpi_function_named(library, "P", function_names[i]);
    }
    find_handles(library);
    return wrappers;
}
