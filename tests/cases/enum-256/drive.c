/* An enum of 256 values still takes one byte. */
#include "values256_trace.h"

int main(void) {
    const enum values256_value three[3] = {values256_value_v255, values256_value_v0, values256_value_v255};
    values256_chosen(values256_value_v0);
    values256_chosen(values256_value_v1);
    values256_chosen(values256_value_v254);
    values256_chosen(values256_value_v255);
    values256_chosen(values256_value_v255);
    values256_several(1, three, 3, 2);
    return 0;
}
