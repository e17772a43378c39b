/* Spans inside spans, the same one inside itself. */
#include "nested_trace.h"

static void descend(uint8_t depth) {
    nested_call_begin(depth);
    if (depth == 3) {
        nested_leaf_begin();
        nested_leaf_end();
    } else {
        descend((uint8_t)(depth + 1));
        descend((uint8_t)(depth + 1));
    }
    nested_call_end();
}

int main(void) {
    descend(0);
    return 0;
}
