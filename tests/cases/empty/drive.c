/* Events and spans without parameters. */
#include "empty_trace.h"

int main(void) {
    empty_semicolon();
    empty_braces();
    empty_nothing_begin();
    empty_described();
    empty_nothing_else_begin();
    empty_nothing_else_end();
    empty_nothing_end();
    return 0;
}
