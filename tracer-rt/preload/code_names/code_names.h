/* Names of code addresses. */

#ifndef TUMIT_CODE_NAMES_H
#define TUMIT_CODE_NAMES_H

/* The function that contains an address, and the offset of the address in bytes, such as
 * `solve+0x4f`. Without a symbol, the name is that of the file and the offset in the file. The text
 * is valid until the end of the process. Later calls with the same address need no search. */
const char *tumit_code_name(const void *address);

/* Maximum length of a function name with its end. Longer names of C++ are cut. */
#define TUMIT_FUNCTION_NAME 512

/* Writes the name of the function that contains an address, without parameters. Without a symbol,
 * it is empty. Searches the symbol table at each call. Returns `name`. */
const char *tumit_function_name(const void *address, char name[TUMIT_FUNCTION_NAME]);

#endif
