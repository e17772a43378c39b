/* An enum of 257 values takes two bytes. */
#include "values257_trace.h"

int main(void) {
    const enum values257_value three[3] = {values257_value_v256, values257_value_v0, values257_value_v255};
    values257_chosen(values257_value_v0);
    values257_chosen(values257_value_v1);
    values257_chosen(values257_value_v254);
    values257_chosen(values257_value_v255);
    values257_chosen(values257_value_v256);
    values257_several(1, three, 3, 2);
    return 0;
}
