/* Types and functions that all MPI libraries declare alike. Each family of libraries with one
 * binary interface has an `mpi.h` of its own, which declares the handles, the status and the
 * constants that the recorder needs, and includes this file. A host therefore needs no MPI
 * compiler. */

#ifndef TUMIT_MPI_TYPES_H
#define TUMIT_MPI_TYPES_H

#include <stdint.h>

typedef intptr_t MPI_Aint;
typedef int64_t MPI_Offset;
typedef int64_t MPI_Count;
typedef int MPI_Fint;

/* The recorder passes these functions on and never calls them. */
typedef void tumit_mpi_function(void);
typedef tumit_mpi_function MPI_User_function, MPI_User_function_c, MPI_Datarep_extent_function,
    MPI_Datarep_conversion_function, MPI_Datarep_conversion_function_c, MPI_Grequest_query_function,
    MPI_Grequest_free_function, MPI_Grequest_cancel_function, MPI_Comm_errhandler_function,
    MPI_File_errhandler_function, MPI_Win_errhandler_function, MPI_Session_errhandler_function;

#define MPI_SUCCESS 0

#endif
