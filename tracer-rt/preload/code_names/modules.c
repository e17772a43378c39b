/* Finds the file that contains an address, without the lock of the dynamic loader.
 *
 * `dladdr` takes this lock. A thread that loads a library has it while the constructors of the
 * library run, and a constructor may wait for another thread. */

#define _GNU_SOURCE

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>

#include "modules.h"

/* Maximum number of files without `_dl_find_object`. */
#define MODULES 512

/* The result of `_dl_find_object` of the GNU C library 2.35 and later. */
struct found_object {
    unsigned long long flags;
    void *start, *end;
    struct link_map *map;
    void *frames;
    unsigned long long reserved[8];
};

static int (*find_object)(void *, struct found_object *);

/* The files at the start of the process, for older C libraries. Addresses in files that were loaded
 * later have no name. */
static struct {
    uintptr_t begin, end;
    struct tumit_module module;
} modules[MODULES];
static size_t module_count;

static int add_module(struct dl_phdr_info *info, size_t size, void *data) {
    uintptr_t begin = UINTPTR_MAX, end = 0;
    int i;
    (void)size;
    (void)data;
    for (i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type == PT_LOAD) {
            const uintptr_t start = info->dlpi_addr + part->p_vaddr;
            begin = start < begin ? start : begin;
            end = start + part->p_memsz > end ? start + part->p_memsz : end;
        }
    }
    if (module_count < MODULES) {
        modules[module_count].begin = begin;
        modules[module_count].end = end;
        modules[module_count].module.path = info->dlpi_name;
        modules[module_count].module.start = info->dlpi_addr;
        modules[module_count].module.header = (const void *)begin;
        module_count++;
    }
    return 0;
}

/* Before the constructors of recorders, which need names. */
__attribute__((constructor(101))) static void find_modules(void) {
    *(void **)&find_object = dlsym(RTLD_DEFAULT, "_dl_find_object");
    if (find_object == NULL) {
        dl_iterate_phdr(add_module, NULL);
    }
}

int tumit_find_module(const void *address, struct tumit_module *module) {
    struct found_object object;
    size_t i;
    if (find_object != NULL) {
        if (find_object((void *)(uintptr_t)address, &object) != 0) {
            return 0;
        }
        module->path = object.map->l_name;
        module->start = object.map->l_addr;
        module->header = object.start;
        return 1;
    }
    for (i = 0; i < module_count; i++) {
        if ((uintptr_t)address >= modules[i].begin && (uintptr_t)address < modules[i].end) {
            *module = modules[i].module;
            return 1;
        }
    }
    return 0;
}
