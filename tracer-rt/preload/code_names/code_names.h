/* Names of code addresses. */

#ifndef TUMIT_CODE_NAMES_H
#define TUMIT_CODE_NAMES_H

/* The function that contains an address, and the offset of the address in bytes, such as
 * `solve+0x4f`. Without a symbol, the name is that of the file and the offset in the file. The text
 * is valid until the end of the process. Later calls with the same address need no search. */
const char *tumit_code_name(const void *address);

#endif
