/* No rules: events are marks and spans are states. */
#include <pthread.h>
#include "unruled_trace.h"

static uint64_t now = 0;
static uint64_t ticks(void) { return now; }

static void *work(void *name) {
    uint32_t n;
    tumit1_set_thread_name((const char *)name);
    for (n = 0; n < 2; n++) {
        unruled_step_begin(n);
        now += 100;
        unruled_tick(n, (const char *)name);
        now += 100;
        unruled_step_end();
    }
    return NULL;
}

int main(void) {
    static char first[] = "first", second[] = "second";
    pthread_t thread;
    if (tumit1_set_clock(ticks, 1000, "default") != 0) {
        return 1;
    }
    work(first);
    if (pthread_create(&thread, NULL, work, second) != 0) {
        return 1;
    }
    pthread_join(thread, NULL);
    return 0;
}
