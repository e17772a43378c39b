/* Other files, two of which use a third one. */
#include "application_trace.h"

int main(void) {
    const uint8_t size[2] = {4, 5};
    application_step(1, application_mood_hasty);
    application_left(2);
    application_right(3, application_mood_calm);
    application_common(size);
    (void)tumit1_set_level("RIGHT", 1);
    application_both_begin();
    application_right(6, application_mood_hasty);
    application_both_end();
    return 0;
}
