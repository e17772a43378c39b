/* A process that forks. */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "forks_trace.h"

int main(void) {
    pid_t child;
    int status = 1;
    forks_named("before");
    forks_tick(1);
    forks_step_begin();
    child = fork();
    if (child == 0) {
        forks_tick(2);
        forks_named("before");
        forks_named("child");
        forks_step_end();
        exit(0);
    }
    if (waitpid(child, &status, 0) != child || status != 0) {
        return 1;
    }
    forks_tick(3);
    forks_named("parent");
    forks_step_end();
    return 0;
}
