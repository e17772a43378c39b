/* The id of the calling thread. */

#ifndef TUMIT_OWN_THREAD_H
#define TUMIT_OWN_THREAD_H

#include <pthread.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static __thread pid_t tumit_own_thread;

static void tumit_forget_own_thread(void) { tumit_own_thread = 0; }

/* A child process has another id. */
__attribute__((constructor)) static void tumit_watch_forks(void) {
    pthread_atfork(NULL, NULL, tumit_forget_own_thread);
}

static inline pid_t own_thread(void) {
    if (__builtin_expect(tumit_own_thread == 0, 0)) {
        tumit_own_thread = (pid_t)syscall(SYS_gettid);
    }
    return tumit_own_thread;
}

#endif
