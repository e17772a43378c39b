/* Spans in several threads at once. */
#include <pthread.h>
#include <stdio.h>
#include "span_threads_trace.h"

static void *work(void *argument) {
    const uint16_t number = *(const uint16_t *)argument;
    char name[16];
    uint32_t round;
    snprintf(name, sizeof name, "worker %u", (unsigned)number);
    tumit1_set_thread_name(name);
    span_threads_outer_begin(number);
    for (round = 0; round < 5; round++) {
        span_threads_work_begin(number, round);
        span_threads_tick(round * number);
        span_threads_work_end();
    }
    span_threads_outer_end();
    return NULL;
}

int main(void) {
    pthread_t threads[4];
    uint16_t numbers[4] = {1, 2, 3, 4};
    int i;
    span_threads_tick(0);
    for (i = 0; i < 4; i++) {
        if (pthread_create(&threads[i], NULL, work, &numbers[i]) != 0) {
            return 1;
        }
    }
    for (i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
    }
    span_threads_tick(1);
    return 0;
}
