/* More threads than one, after one another and at once. */
#include <pthread.h>
#include <stdio.h>
#include "threads_trace.h"

static void *work(void *argument) {
    const uint32_t number = *(const uint32_t *)argument;
    char name[16], text[321];
    uint32_t n;
    snprintf(name, sizeof name, "thread %02u", (unsigned)number);
    tumit1_set_thread_name(name);
    memset(text, 'x', sizeof text);
    text[number * 10] = '\0';
    for (n = 0; n < 500; n++) {
        threads_tick(number, n);
        if (n % 50 == 0) {
            threads_text(text);
        }
    }
    return NULL;
}

int main(void) {
    pthread_t threads[32];
    uint32_t numbers[32], i;
    for (i = 0; i < 32; i++) {
        numbers[i] = i;
        if (pthread_create(&threads[i], NULL, work, &numbers[i]) != 0) {
            return 1;
        }
        if (i < 20) {
            pthread_join(threads[i], NULL);
        }
    }
    for (i = 20; i < 32; i++) {
        pthread_join(threads[i], NULL);
    }
    return 0;
}
