/* Streams have labels: given before the first record, after it, twice. */
#include <pthread.h>
#include "labelled_trace.h"

static uint64_t now = 0;
static uint64_t ticks(void) { return now; }

static void *work(void *name) {
    uint32_t n;
    tumit1_set_thread_name((const char *)name);
    if (strcmp((const char *)name, "third") != 0) {
        tumit1_set_stream_label("io");
    }
    for (n = 0; n < 2; n++) {
        labelled_step_begin(n);
        now += 100;
        labelled_step_end();
    }
    if (strcmp((const char *)name, "first") == 0) {
        tumit1_set_stream_label("compute");
    }
    return NULL;
}

int main(void) {
    static char names[3][8] = {"first", "second", "third"};
    int i;
    if (tumit1_set_clock(ticks, 1000, "labels") != 0) {
        return 1;
    }
    for (i = 0; i < 3; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, work, names[i]) != 0) {
            return 1;
        }
        pthread_join(thread, NULL);
    }
    return 0;
}
