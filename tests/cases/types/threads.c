/* Threads record, rename themselves, intern and switch levels while others flush, fork and exit. */
#include "types_trace.h"

#include <sys/wait.h>

static void *work(void *argument) {
    const uint16_t shorts[4] = {1, 2, 3, 4};
    const uint64_t seed = *(const uint64_t *)argument;
    char text[64];
    uint64_t n;
    for (n = 0; n < 2000; n++) {
        types_numbers(1, 2, 3, n * seed, -1, -2, -3, -4);
        if (n % 10 == 0) {
            snprintf(text, sizeof text, "name %u", (unsigned)(n % 300));
            types_texts(text, text, text, 5);
        }
        types_placed(3);
        types_counted(shorts, n % 5, NULL, 0, NULL, 0, NULL, 0);
        if (n == 1000) {
            (void)tumit1_set_level("QUIET", 1);
            tumit1_set_thread_name("half way");
        }
    }
    return NULL;
}

int main(void) {
    pthread_t threads[4];
    uint64_t seeds[4] = {1, 2, 3, 4};
    unsigned i, round;
    for (round = 0; round < 2; round++) {
        for (i = 0; i < 4; i++) {
            if (pthread_create(&threads[i], NULL, work, &seeds[i]) != 0) {
                return 1;
            }
        }
        for (i = 0; i < 20; i++) {
            tumit1_flush();
            types_bare();
        }
        for (i = 0; i < 4; i++) {
            pthread_join(threads[i], NULL);
        }
    }
#ifndef NO_FORK
    {
        pid_t child = fork();
        if (child == 0) {
            types_bare();
            types_texts("child", "x", "y", 1);
            exit(0);
        }
        return waitpid(child, NULL, 0) == child ? 0 : 1;
    }
#else
    return 0;
#endif
}
