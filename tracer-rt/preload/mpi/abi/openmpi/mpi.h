/* The binary interface of Open MPI 4 and 5 (libmpi.so.40). Handles are addresses of objects. */

#ifndef MPI_H
#define MPI_H

#include <stddef.h>

#include "../types.h"

typedef struct ompi_communicator_t *MPI_Comm;
typedef struct ompi_datatype_t *MPI_Datatype;
typedef struct ompi_errhandler_t *MPI_Errhandler;
typedef struct ompi_file_t *MPI_File;
typedef struct ompi_group_t *MPI_Group;
typedef struct ompi_info_t *MPI_Info;
typedef struct ompi_message_t *MPI_Message;
typedef struct ompi_op_t *MPI_Op;
typedef struct ompi_request_t *MPI_Request;
typedef struct ompi_instance_t *MPI_Session;
typedef struct ompi_win_t *MPI_Win;

typedef struct {
    int MPI_SOURCE;
    int MPI_TAG;
    int MPI_ERROR;
    int cancelled;
    size_t bytes;
} MPI_Status;

/* The predefined objects. They are weak, because the recorder is also loaded into programs without
 * MPI, and because a program may load MPI later. Then the recorder looks them up by name. */
#define TUMIT_MPI_HANDLES_ARE_SYMBOLS 1
#define TUMIT_MPI_COMM_WORLD_SYMBOL "ompi_mpi_comm_world"
#define TUMIT_MPI_COMM_SELF_SYMBOL "ompi_mpi_comm_self"
#define TUMIT_MPI_COMM_NULL_SYMBOL "ompi_mpi_comm_null"
#define TUMIT_MPI_REQUEST_NULL_SYMBOL "ompi_request_null"
#define TUMIT_MPI_MESSAGE_NULL_SYMBOL "ompi_message_null"
#define TUMIT_MPI_MESSAGE_NO_PROC_SYMBOL "ompi_message_no_proc"
#define TUMIT_MPI_BYTE_SYMBOL "ompi_mpi_byte"

#define MPI_ANY_SOURCE (-1)
#define MPI_PROC_NULL (-2)
#define MPI_ROOT (-4)
#define MPI_ANY_TAG (-1)
#define MPI_UNDEFINED (-32766)
#define MPI_MODE_NOPRECEDE 2
#define MPI_IN_PLACE ((void *)1)
#define MPI_STATUS_IGNORE ((MPI_Status *)0)
#define MPI_STATUSES_IGNORE ((MPI_Status *)0)
#define MPI_THREAD_MULTIPLE 3

#endif
