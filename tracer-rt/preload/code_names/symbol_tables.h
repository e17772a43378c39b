/* The symbol tables of the program and its libraries. */

#ifndef TUMIT_SYMBOL_TABLES_H
#define TUMIT_SYMBOL_TABLES_H

#include <stddef.h>

#include "modules.h"

/* The symbol of the function that contains an address of a loaded file. NULL without one. The text
 * is valid until the end of the process. The first call for a file sorts its symbols. Further calls
 * take logarithmic time. The function allocates no memory by `malloc`. */
const char *tumit_find_symbol(const struct tumit_module *module, const void *address);

#endif
