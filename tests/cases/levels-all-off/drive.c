/* All levels are off: nothing is recorded. */
#include "all_off_trace.h"

int main(void) {
    all_off_a(1);
    all_off_b("name");
    all_off_s_begin();
    all_off_s_end();
    return 0;
}
