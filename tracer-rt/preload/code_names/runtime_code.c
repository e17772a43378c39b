/* Recognises the code of MPI libraries, of runtimes of OpenMP and of the libraries below them. */

#define _GNU_SOURCE

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "runtime_code.h"

/* Prefixes of the names of libraries. */
static const char *const libraries[] = {
    "libmpi",   "libmpich", "libopen-",  "libpmix", "libprrte", "libprte",  "libevent", "libhwloc", "libfabric",
    "libucp",   "libuct",   "libucs",    "libucm",  "libpsm",   "libibverbs", "librdmacm", "libomp",  "libgomp",
    "libiomp5", "libnvomp", "libcraymp", "mca_",    "libtumit", "libc.so",
};
/* Prefixes of the names of programs that start others. */
static const char *const programs[] = {
    "mpirun", "mpiexec", "orterun", "orted", "prterun", "prted", "hydra_", "srun", "slurmstepd", "aprun", "flux",
};

/* Entries of the table of results; a power of two. An entry is an address, and its lowest bit the
 * result: return addresses are looked up, whose lowest bit is not needed. */
#define ENTRIES 1024
static uintptr_t results[ENTRIES];

static int has_prefix(const char *name, const char *const *prefixes, size_t count) {
    size_t i;
    for (i = 0; i < count; i++) {
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0) {
            return 1;
        }
    }
    return 0;
}

static int is_launcher(void) {
    return has_prefix(program_invocation_short_name, programs, sizeof programs / sizeof programs[0]);
}

static int search(const void *address) {
    const char *name;
    Dl_info info;
    if (is_launcher()) {
        return 1;
    }
    if (dladdr(address, &info) == 0 || info.dli_fname == NULL) {
        return 0;
    }
    name = strrchr(info.dli_fname, '/');
    return has_prefix(name == NULL ? info.dli_fname : name + 1, libraries, sizeof libraries / sizeof libraries[0]);
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
