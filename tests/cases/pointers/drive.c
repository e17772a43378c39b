/* Pointers: their addresses, alone and in arrays. */
#include "pointers_trace.h"

static const void *place(uintptr_t address) { return (const void *)address; }

int main(void) {
    const void *fixed[2], *counted[3];
    pointers_one(NULL);
    pointers_one(place(0x1234));
    pointers_one(place(UINTPTR_MAX));
    fixed[0] = place(1);
    fixed[1] = place(2);
    counted[0] = place(3);
    counted[1] = NULL;
    counted[2] = place((uintptr_t)1 << 47);
    pointers_several(fixed, counted, 3);
    fixed[0] = NULL;
    fixed[1] = place(8);
    pointers_several(fixed, NULL, 0);
    return 0;
}
