/* Interned strings: the same text has the same number, wherever it lies. */
#include "interned_texts_trace.h"

int main(void) {
    const char *const fixed[2] = {"north", ""};
    const char *const counted[3] = {"up", "up", "north"};
    const char *const same[2] = {"up", "up"};
    char copy[6];
    memcpy(copy, "north", sizeof copy);

    interned_texts_one("north");
    interned_texts_one("south");
    interned_texts_one(copy);
    interned_texts_one("");
    interned_texts_one("n\xC3\xA9on \xF0\x9F\x98\x80");
    interned_texts_one("North");
    interned_texts_two("east", "west");
    interned_texts_two("west", "north");
    interned_texts_several(fixed, counted, 3);
    interned_texts_several(same, NULL, 0);
    interned_texts_one("a\tb\nc\"\\");
    return 0;
}
