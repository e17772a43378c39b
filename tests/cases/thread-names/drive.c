/* Names of threads. */
#include <pthread.h>
#include <sys/prctl.h>
#include "thread_names_trace.h"

static void *system_name(void *argument) {
    (void)argument;
    prctl(PR_SET_NAME, "of the system");
    thread_names_tick(1);
    return NULL;
}
static void *none(void *argument) {
    (void)argument;
    thread_names_tick(2);
    return NULL;
}
static void *before(void *argument) {
    (void)argument;
    tumit1_set_thread_name("before");
    thread_names_tick(3);
    return NULL;
}
static void *after(void *argument) {
    (void)argument;
    thread_names_tick(4);
    tumit1_set_thread_name("after");
    thread_names_tick(5);
    tumit1_set_thread_name("after, again");
    return NULL;
}
static void *replaced(void *argument) {
    (void)argument;
    prctl(PR_SET_NAME, "replaced");
    tumit1_set_thread_name("r\xC3\xA9seau \xE4\xB8\x96\xE7\x95\x8C");
    thread_names_tick(6);
    return NULL;
}
static void *longer(void *argument) {
    (void)argument;
    tumit1_set_thread_name("forty-seven bytes are kept of the name of a threadpool");
    thread_names_tick(7);
    return NULL;
}
static void *cut(void *argument) {
    (void)argument;
    /* The 47th and the 48th byte are one character. */
    tumit1_set_thread_name("between characters a name is cut, not in th\xC3\xA9m\xC3\xA9s and others");
    thread_names_tick(8);
    return NULL;
}

static int run(void *(*work)(void *)) {
    pthread_t thread;
    return pthread_create(&thread, NULL, work, NULL) == 0 && pthread_join(thread, NULL) == 0;
}

int main(void) {
    thread_names_tick(0);
    return run(system_name) && run(none) && run(before) && run(after) && run(replaced) && run(longer) && run(cut) ? 0 : 1;
}
