/* Texts for code addresses, from which the converter computes names and source positions. */

#ifndef TUMIT_CODE_TEXTS_H
#define TUMIT_CODE_TEXTS_H

#include <stddef.h>

/* What an address means. */
enum tumit_code_kind {
    /* A function begins there. */
    TUMIT_CODE_FUNCTION,
    /* A call returns to it. */
    TUMIT_CODE_CALL,
};

/* Maximum length of a text with its end: a path and 128 other characters. */
#define TUMIT_CODE_TEXT (4096 + 128)

/* Writes the text of an address: its kind, its offset in the file, the build id of the file, and
 * the path of the file. FORMAT.md describes it. Needs no debugging information, takes no lock and
 * allocates nothing. Returns the length. */
size_t tumit_code_text(enum tumit_code_kind kind, const void *address, char text[TUMIT_CODE_TEXT]);

#endif
