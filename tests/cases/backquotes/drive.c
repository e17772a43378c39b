/* Names in backquotes are the same names. */
#include "backquotes_trace.h"

int main(void) {
    backquotes_not(1, 2);
    backquotes_event(true, false, backquotes_mode_true);
    backquotes_rule_begin(3);
    backquotes_event(false, true, backquotes_mode_plain);
    backquotes_rule_end();
    return 0;
}
