/* Keywords of some language. In C, they follow the name of the trace. */
#include "keywords_trace.h"

int main(void) {
    keywords_type(-1, 2, 3, 4);
    keywords_int(1, 2, 3, 4, true, false);
    keywords_class(1, 2, 3, 4, 5);
    keywords_end(1, -2, 3, 4, 5, 6, 7.5f);
    keywords_default(1, 2, 3, 4, 5, 6);
    keywords_for(1, 2, 3, 4, 5, 6, 7, 8);
    keywords_event(1, 2, 3, 4, 5, 6);
    keywords_stderr(-1, 2, 3, 4, 5, 6);
    keywords_loop_begin(1, 2, 3, 4, 5, 6);
    keywords_call(1, 2, 3, 4, 5, 6, 7);
    keywords_loop_end();
    return 0;
}
