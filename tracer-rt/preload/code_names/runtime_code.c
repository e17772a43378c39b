/* Recognises the code of MPI libraries, of runtimes of OpenMP and of the libraries below them. */

#define _GNU_SOURCE

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "modules.h"
#include "runtime_code.h"

/* Prefixes of the names of libraries. */
static const char *const libraries[] = {
    "libmpi",   "libmpich", "libopen-",  "libpmix",    "libprrte",   "libprte", "libevent", "libhwloc", "libfabric",
    "libucp",   "libuct",   "libucs",    "libucm",     "libpsm",     "libibverbs", "librdmacm", "libomp.", "libomp-",
    "libomp5",  "libgomp.", "libiomp5.", "libnvomp.",  "libcraymp.", "mca_",    "libtumit", "libc.so",
};
/* Names of programs that start others. */
static const char *const launchers[] = {
    "mpirun", "mpiexec", "orterun", "orted", "prterun", "prted", "srun", "slurmstepd", "aprun", "flux",
};
/* Prefix of the names of MPICH's launchers, such as `hydra_pmi_proxy`. */
#define HYDRA "hydra_"

/* Entries of the table of results; a power of two. An entry is a return address without its lowest
 * bit. The lowest bit of the entry is the result. */
#define ENTRIES 1024
static uintptr_t results[ENTRIES];

int tumit_is_launcher(void) {
    size_t i;
    for (i = 0; i < sizeof launchers / sizeof launchers[0]; i++) {
        if (strcmp(program_invocation_short_name, launchers[i]) == 0) {
            return 1;
        }
    }
    return strncmp(program_invocation_short_name, HYDRA, strlen(HYDRA)) == 0 ||
           strncmp(program_invocation_short_name, "mpiexec.", strlen("mpiexec.")) == 0 ||
           strncmp(program_invocation_short_name, "mpirun.", strlen("mpirun.")) == 0;
}

static int is_runtime_library(const char *path) {
    const char *name = strrchr(path, '/');
    size_t i;
    name = name == NULL ? path : name + 1;
    for (i = 0; i < sizeof libraries / sizeof libraries[0]; i++) {
        if (strncmp(name, libraries[i], strlen(libraries[i])) == 0) {
            return 1;
        }
    }
    return 0;
}

static int search(const void *address) {
    struct tumit_module module;
    return tumit_is_launcher() || (tumit_find_module(address, &module) && is_runtime_library(module.path));
}

int tumit_is_runtime_code(const void *address) {
    const uintptr_t key = (uintptr_t)address | 1;
    uintptr_t *entry = &results[((uint64_t)key * UINT64_C(0x9E3779B97F4A7C15)) >> 54];
    const uintptr_t known = __atomic_load_n(entry, __ATOMIC_RELAXED);
    int result;
    if ((known | 1) == key) {
        return (int)(known & 1);
    }
    result = search(address);
    __atomic_store_n(entry, (key & ~(uintptr_t)1) | (uintptr_t)result, __ATOMIC_RELAXED);
    return result;
}
