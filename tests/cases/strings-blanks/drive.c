/* Blanks at the end of texts are kept. */
#include "blanks_trace.h"

int main(void) {
    blanks_say("one ", "two  ");
    blanks_say(" ", "two");
    blanks_say("", " ");
    return 0;
}
