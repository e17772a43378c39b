/* Texts for code addresses, from which the converter computes names and source positions. */

#ifndef TUMIT_CODE_TEXTS_H
#define TUMIT_CODE_TEXTS_H

#include <stddef.h>
#include <stdint.h>

/* The relation of an address to a function. */
enum tumit_code_kind {
    /* A function begins there. */
    TUMIT_CODE_FUNCTION,
    /* A call returns to it. */
    TUMIT_CODE_CALL,
    /* It is in an inlined function. */
    TUMIT_CODE_INLINED,
};

/* Maximum length of a text with its end: a path and 128 other characters. */
#define TUMIT_CODE_TEXT (4096 + 128)

/* Writes the text of an address: its kind, its offset in the file, the build id of the file, and
 * the path of the file. FORMAT.md describes it. Needs no debugging information, takes no lock and
 * allocates nothing. Returns the length. */
size_t tumit_code_text(enum tumit_code_kind kind, const void *address, char text[TUMIT_CODE_TEXT]);

/* A text and its number in records: 0 before the first record. Generated functions take the number
 * from here (`TUMIT_TEXT_ID`), so that a record needs no search for the text. */
struct tumit_text {
    uint32_t id;
    char text[];
};

/* The number of the text of a `tumit_text`. Called in a record, so that the recording has begun. */
static inline uint32_t tumit_text_id(const char *text, uint32_t (*intern)(const char *)) {
    struct tumit_text *entry = (struct tumit_text *)(uintptr_t)(text - offsetof(struct tumit_text, text));
    uint32_t id = __atomic_load_n(&entry->id, __ATOMIC_RELAXED);
    if (__builtin_expect(id == 0, 0)) {
        id = intern(text);
        __atomic_store_n(&entry->id, id, __ATOMIC_RELAXED);
    }
    return id;
}

/* For generated functions that intern only the texts of code addresses. */
#define TUMIT_TEXT_ID(text) tumit_text_id(text, tumit1_intern)

#endif
