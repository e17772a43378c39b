/* The program and the libraries that a process has loaded. */

#ifndef TUMIT_MODULES_H
#define TUMIT_MODULES_H

#include <stdint.h>

/* The file that contains an address. */
struct tumit_module {
    /* The path; empty for the program itself. */
    const char *path;
    /* The difference between addresses in memory and in the file. */
    uintptr_t start;
    /* The header of the file in memory; NULL if it is not known. */
    const void *header;
};

/* Finds the file of an address. Returns 0 without one. Takes no lock: a thread may call it while
 * another one loads a library and waits for this thread. */
int tumit_find_module(const void *address, struct tumit_module *module);

#endif
