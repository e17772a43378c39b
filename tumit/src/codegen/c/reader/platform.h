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
TUMIT1R_FN bool tumit1r_room(void *items, size_t *room, size_t need, size_t each) {
    void *old, *fresh;
    size_t more = *room < 8 ? 8 : *room;
    if (need <= *room) {
        return true;
    }
    while (more < need) {
        if (more > (size_t)-1 / 4 / each) {
            return false;
        }
        more *= 2;
    }
    memcpy(&old, items, sizeof old);
    fresh = realloc(old, more * each);
    if (fresh == NULL) {
        return false;
    }
    memcpy(items, &fresh, sizeof fresh);
    *room = more;
    return true;
}
