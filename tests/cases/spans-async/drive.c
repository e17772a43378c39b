/* Async spans: begins and ends of parts, with the number of their task. */
#include <pthread.h>
#include "tasks_trace.h"

static void *other(void *argument) {
    (void)argument;
    tumit1_set_thread_name("other");
    tasks_fetch_begin(1, "a", 10);
    tasks_tick(2);
    tasks_poll_begin(UINT64_MAX);
    tasks_poll_end(UINT64_MAX);
    tasks_fetch_end(1);
    return NULL;
}

int main(void) {
    pthread_t thread;
    tasks_fetch_begin(1, "a", 10);
    tasks_tick(1);
    tasks_fetch_begin(2, "b", 20);
    tasks_fetch_end(2);
    tasks_fetch_end(1);
    if (pthread_create(&thread, NULL, other, NULL) != 0) {
        return 1;
    }
    pthread_join(thread, NULL);
    tasks_fetch_begin(2, "b", 20);
    tasks_poll_begin(0);
    tasks_poll_end(0);
    tasks_placed_begin(3, 4);
    tasks_placed_end(3);
    tasks_fetch_end(2);
    return 0;
}
