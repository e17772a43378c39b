/* Names of 63 letters everywhere. */
#include "trace_abcdefghij_abcdefghij_abcdefghij_abcdefghij_abcdefghij_an_trace.h"

#define VALUE(name) trace_abcdefghij_abcdefghij_abcdefghij_abcdefghij_abcdefghij_an_enum_abcdefghij_abcdefghij_abcdefghij_abcdefghij_abcdefghij_abn_##name

int main(void) {
    const enum trace_abcdefghij_abcdefghij_abcdefghij_abcdefghij_abcdefghij_an_enum_abcdefghij_abcdefghij_abcdefghij_abcdefghij_abcdefghij_abn one[1] = {
        VALUE(value_abcdefghij_abcdefghij_abcdefghij_abcdefghij_abcdefghij_ao)};
    trace_abcdefghij_abcdefghij_abcdefghij_abcdefghij_abcdefghij_an_span_abcdefghij_abcdefghij_abcdefghij_abcdefghij_abcdefghij_abn_begin(7);
    trace_abcdefghij_abcdefghij_abcdefghij_abcdefghij_abcdefghij_an_event_abcdefghij_abcdefghij_abcdefghij_abcdefghij_abcdefghij_an(
        1, VALUE(value_abcdefghij_abcdefghij_abcdefghij_abcdefghij_abcdefghij_an), one, 1);
    trace_abcdefghij_abcdefghij_abcdefghij_abcdefghij_abcdefghij_an_span_abcdefghij_abcdefghij_abcdefghij_abcdefghij_abcdefghij_abn_end();
    return 0;
}
