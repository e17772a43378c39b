/* A program that ends in a thread, without return from `main`. */
#include <pthread.h>
#include <stdlib.h>
#include "exits_trace.h"

static void *last(void *argument) {
    (void)argument;
    tumit1_set_thread_name("last");
    exits_step_begin(2);
    exits_tick(2);
    exit(0);
}

int main(void) {
    pthread_t thread;
    exits_step_begin(1);
    exits_tick(1);
    if (pthread_create(&thread, NULL, last, NULL) == 0) {
        pthread_join(thread, NULL);
    }
    exits_tick(3);
    return 1;
}
