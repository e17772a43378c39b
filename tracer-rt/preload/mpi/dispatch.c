/* Contains the recorder, and selects the family of MPI libraries at the first call of MPI.
 *
 * The exported symbols (`mpi_entries.S`) jump through `tumit_mpi_entries`. A library of the wrong
 * family cannot be attached by mistake, and a program may load MPI after its start. */

#define _GNU_SOURCE
#define TUMIT_SYNC

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi_trace.h"
#include "preload.h"

__thread int tumit_mpi_depth;
extern void *tumit_mpi_entries[];
void tumit_mpi_select_family(void);

/* A library of MPI that the process has loaded. */
struct library {
    const char *name;
    void *const *(*wrappers)(void *library);
};

/* Prefixes of the names of libraries, without the folder. */
static const struct library libraries[] = {
    {"libmpi_abi.so", tumit_mpi_wrappers_standard},
    {"libmpi.so.40", tumit_mpi_wrappers_openmpi},
    {"libmpi.so.12", tumit_mpi_wrappers_mpich},
    {"libmpich.so.12", tumit_mpi_wrappers_mpich},
    {"libmpi_cray.so.12", tumit_mpi_wrappers_mpich},
    {"libmpi_gnu", tumit_mpi_wrappers_mpich},
    {"libmpi_intel.so.12", tumit_mpi_wrappers_mpich},
};

struct found_library {
    const struct library *library;
    char path[4096];
};

static int find_library(struct dl_phdr_info *info, size_t size, void *data) {
    struct found_library *found = data;
    const char *name = strrchr(info->dlpi_name, '/');
    size_t i;
    (void)size;
    name = name == NULL ? info->dlpi_name : name + 1;
    for (i = 0; i < sizeof libraries / sizeof libraries[0]; i++) {
        if (strncmp(name, libraries[i].name, strlen(libraries[i].name)) == 0) {
            found->library = &libraries[i];
            snprintf(found->path, sizeof found->path, "%s", info->dlpi_name);
            return 1;
        }
    }
    return 0;
}

/* A library without a name in the table, or MPI inside the program itself: symbols that only one
 * family has distinguish them. */
static void *const *(*family_of_symbols(void))(void *) {
    if (dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world") != NULL) {
        return tumit_mpi_wrappers_openmpi;
    }
    if (dlsym(RTLD_DEFAULT, "MPIR_Process") != NULL || dlsym(RTLD_DEFAULT, "MPIR_F08_MPI_IN_PLACE") != NULL) {
        return tumit_mpi_wrappers_mpich;
    }
    return NULL;
}

static pthread_mutex_t selection = PTHREAD_MUTEX_INITIALIZER;
static int is_selected;

void tumit_mpi_select_family(void) {
    struct found_library found = {NULL, ""};
    void *const *(*wrappers)(void *);
    void *const *selected;
    void *handle;
    size_t i;
    pthread_mutex_lock(&selection);
    if (!is_selected) {
        TUMIT_REGISTER_MPI();
        dl_iterate_phdr(find_library, &found);
        wrappers = found.library != NULL ? found.library->wrappers : family_of_symbols();
        if (wrappers == NULL) {
            fputs("tumit record: the program calls MPI, and its MPI library is none of Open MPI 4 or 5, MPICH 3.1 to 5 "
                  "or a library with the standard interface of MPI 5; run the program without `tumit record`\n",
                  stderr);
            abort();
        }
        handle = found.library == NULL ? RTLD_NEXT : dlopen(found.path, RTLD_LAZY | RTLD_NOLOAD);
        selected = wrappers(handle == NULL ? RTLD_NEXT : handle);
        for (i = 0; selected[i] != NULL; i++) {
            __atomic_store_n(&tumit_mpi_entries[i], selected[i], __ATOMIC_RELAXED);
        }
        __atomic_store_n(&is_selected, 1, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&selection);
}

static void end_without_function(void) {
    fputs("tumit record: the program calls a procedure that its MPI library does not have; run the program without "
          "`tumit record` for the message of the library\n",
          stderr);
    abort();
}

void *tumit_mpi_function_named(void *library, const char *prefix, const char *name) {
    char symbol[128];
    void *function;
    snprintf(symbol, sizeof symbol, "%s%s", prefix, name);
    function = dlsym(RTLD_NEXT, symbol);
    if (function == NULL && library != RTLD_NEXT) {
        function = dlsym(library, symbol);
    }
    return function != NULL ? function : (void *)end_without_function;
}

/* ---- Recording functions ---- */

tumit_mpi_date tumit_mpi_now(void) { return tumit1_now(); }
void tumit_mpi_begin_job(int procedure) { mpi_job_begin((enum mpi_procedure)procedure); }
void tumit_mpi_end_job(void) { mpi_job_end(); }
void tumit_mpi_begin_point_to_point(int procedure) { mpi_point_to_point_begin((enum mpi_procedure)procedure); }
void tumit_mpi_end_point_to_point(void) { mpi_point_to_point_end(); }
void tumit_mpi_record_send(uint64_t communicator, int to, int tag, uint32_t number, uint64_t bytes) {
    mpi_send(communicator, to, tag, number, bytes);
}
void tumit_mpi_record_receive(uint64_t communicator, int from, int tag, uint32_t number, uint64_t bytes) {
    mpi_receive(communicator, from, tag, number, bytes);
}
void tumit_mpi_record_late_receive(uint64_t communicator, int from, int tag, uint32_t number, uint64_t bytes,
                                   tumit_mpi_date arrival) {
    mpi_late_receive(communicator, from, tag, number, bytes, arrival);
}
void tumit_mpi_record_partitioned_send(uint64_t communicator, int to, int tag, uint32_t request, uint32_t start,
                                       uint64_t bytes) {
    mpi_partitioned_send(communicator, to, tag, request, start, bytes);
}
void tumit_mpi_record_partitioned_receive(uint64_t communicator, int from, int tag, uint32_t request, uint32_t start,
                                          uint64_t bytes) {
    mpi_partitioned_receive(communicator, from, tag, request, start, bytes);
}
void tumit_mpi_record_successful_test(int procedure, tumit_mpi_date call_start, uint32_t failures) {
    mpi_successful_test((enum mpi_procedure)procedure, call_start, failures);
}
void tumit_mpi_begin_collective_record(int procedure, int kind, const char *communicator, uint32_t size, int root,
                                       uint64_t bytes) {
    mpi_collective_begin((enum mpi_procedure)procedure, (enum mpi_collective_kind)kind, communicator, size, root, bytes);
}
void tumit_mpi_end_collective(void) { mpi_collective_end(); }
void tumit_mpi_begin_operation(int procedure, int kind, const char *communicator, uint32_t size, int root,
                               uint64_t bytes, uint32_t row, uint32_t number, uint32_t start) {
    mpi_begin_operation((enum mpi_procedure)procedure, (enum mpi_collective_kind)kind, communicator, size, root, bytes,
                        row, number, start);
}
void tumit_mpi_end_operation(uint32_t row) { mpi_end_operation(row); }
void tumit_mpi_begin_one_sided(int procedure, int transfer, int target, uint64_t bytes) {
    mpi_one_sided_begin((enum mpi_procedure)procedure, (enum mpi_transfer_direction)transfer, target, bytes);
}
void tumit_mpi_end_one_sided(int transfer, int target) {
    mpi_one_sided_end((enum mpi_transfer_direction)transfer, target);
}
void tumit_mpi_begin_fence(const char *window, int is_barrier) { mpi_fence_begin(window, is_barrier); }
void tumit_mpi_end_fence(void) { mpi_fence_end(); }
void tumit_mpi_begin_window_lock(const char *window, int target) { mpi_window_lock_begin(window, target); }
void tumit_mpi_end_window_lock(const char *window, int target) { mpi_window_lock_end(window, target); }
void tumit_mpi_begin_window_unlock(void) { mpi_window_unlock_begin(); }
void tumit_mpi_end_window_unlock(const char *window, int target) { mpi_window_unlock_end(window, target); }
void tumit_mpi_record_end_access(const char *window, int to, uint32_t number) { mpi_end_access(window, to, number); }
void tumit_mpi_record_end_exposure(const char *window, int from, uint32_t number) {
    mpi_end_exposure(window, from, number);
}
void tumit_mpi_begin_file(int procedure, uint64_t bytes) { mpi_file_begin((enum mpi_procedure)procedure, bytes); }
void tumit_mpi_end_file(void) { mpi_file_end(); }
void tumit_mpi_begin_topology(int procedure) { mpi_topology_begin((enum mpi_procedure)procedure); }
void tumit_mpi_end_topology(void) { mpi_topology_end(); }
void tumit_mpi_record_communicator(uint64_t communicator, const char *name, const char *mpi_name, uint32_t rank,
                                   uint32_t size) {
    mpi_communicator(communicator, name, mpi_name, rank, size);
}
void tumit_mpi_begin_query(int procedure) { mpi_query_begin((enum mpi_procedure)procedure); }
void tumit_mpi_end_query(void) { mpi_query_end(); }

/* ---- The recorder ---- */

void tumit_mpi_take_samples(int rank, int ranks, int (*send)(void *, uint32_t, const void *),
                            int (*receive)(void *, uint32_t, void *)) {
    struct tumit1_link link = {send, receive, NULL, (uint32_t)rank, (uint32_t)ranks, 0, 0, 0};
    (void)tumit1_sync(&link);
}
void tumit_mpi_set_rank(int rank, int ranks) { tumit1_set_rank(rank, ranks); }
int tumit_mpi_knows_rank(void) {
    static const char *const variables[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK"};
    size_t i;
    for (i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        if (getenv(variables[i]) != NULL) {
            return 1;
        }
    }
    return 0;
}
void tumit_mpi_flush(void) { tumit1_flush(); }
void tumit_mpi_pause(void) { tumit1_pause(); }
void tumit_mpi_resume(void) { tumit1_resume(); }
