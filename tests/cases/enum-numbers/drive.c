/* Numbers of enum values: explicit, or one more than the previous number. */
#include "numbered_trace.h"

int main(void) {
    const enum numbered_state three[3] = {numbered_state_last, numbered_state_first, numbered_state_idle};
    const enum numbered_state busy[3] = {numbered_state_busy, numbered_state_busy, numbered_state_busy};
    const enum numbered_code codes[3] = {numbered_code_odd, numbered_code_small, numbered_code_failed};

    numbered_changed(numbered_state_idle, numbered_code_ok);
    numbered_changed(numbered_state_busy, numbered_code_failed);
    numbered_changed(numbered_state_lost, numbered_code_odd);
    numbered_changed(numbered_state_found, numbered_code_small);
    numbered_changed(numbered_state_first, numbered_code_ok);
    numbered_changed(numbered_state_last, numbered_code_ok);
    numbered_several(three, codes, 3);
    numbered_several(busy, NULL, 0);
    return 0;
}
