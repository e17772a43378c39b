/* Names of code addresses. */

#ifndef TUMIT_CODE_NAMES_H
#define TUMIT_CODE_NAMES_H

#include "code_texts.h"

/* The text of an address, for `TUMIT_TEXT_ID`. It is valid until the end of the process. Later
 * calls with the same address need no search. */
const char *tumit_code_name(enum tumit_code_kind kind, const void *address);

/* Maximum length of a function name with its end. Longer names of C++ are cut. */
#define TUMIT_FUNCTION_NAME 512

/* Writes the name of the function that contains an address, without parameters. Without a symbol,
 * the name is empty. Returns `name`. The demangler of C++ allocates memory, so the caller holds no
 * lock. */
const char *tumit_function_name(const void *address, char name[TUMIT_FUNCTION_NAME]);

#endif
