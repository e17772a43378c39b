/* ---- Requirements: C99 or C++11, stdio, and POSIX for folders ---- */

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#if defined __GNUC__
#define TUMIT1R_FN static __attribute__((unused))
#define TUMIT1R_DATA static __attribute__((unused))
#else
#define TUMIT1R_FN static
#define TUMIT1R_DATA static
#endif

/* Values of `kind` that are not events of the spec. */
/* an event that the spec does not have: see head.type and head.body */
#define TUMIT1R_OTHER 0xFFFFFFFFu
/* a report of dropped, missing or damaged records: see head.dropped */
#define TUMIT1R_DROPPED 0xFFFFFFFEu
/* A value of an enum that the spec does not have. The field has this value plus the number in
 * the file. */
#define TUMIT1R_UNKNOWN 0x10000u

/* Makes room for `need` items of `each` bytes. The old items stay, also when there is not enough
 * memory. */
TUMIT1R_FN bool tumit1r_room(void *items, size_t *room, size_t need, size_t item_bytes) {
    void *old_items, *new_items;
    size_t capacity = *room < 8 ? 8 : *room;
    if (need <= *room) {
        return true;
    }
    while (capacity < need) {
        if (capacity > (size_t)-1 / 4 / item_bytes) {
            return false;
        }
        capacity *= 2;
    }
    memcpy(&old_items, items, sizeof old_items);
    new_items = realloc(old_items, capacity * item_bytes);
    if (new_items == NULL) {
        return false;
    }
    memcpy(items, &new_items, sizeof new_items);
    *room = capacity;
    return true;
}
