/* Bytes: any values, zeros among them, none at all. */
#include "raw_bytes_trace.h"

int main(void) {
    static unsigned char many[20000];
    unsigned char values[256];
    unsigned i;
    for (i = 0; i < 256; i++) {
        values[i] = (unsigned char)i;
    }
    memset(many, 0xFF, sizeof many);
    raw_bytes_one(NULL, 0);
    raw_bytes_one(values, 1);
    raw_bytes_one(values, sizeof values);
    raw_bytes_one(many, sizeof many);
    raw_bytes_two("left", 5, 300, "\0right", 6);
    raw_bytes_two(NULL, 0, 0, values, 3);
    return 0;
}
