/* Functions that replace the program of a process, or end the process. Destructors do not run then,
 * so these functions end the recording. Otherwise the file of the process has no end. */

#define _GNU_SOURCE

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "recorder_ends.h"

#define EXPORTED __attribute__((visibility("default")))
/* The search path without the variable PATH. */
#define USUAL_PATH "/bin:/usr/bin"

/* The recorder writes the file of the process. */
void tumit1_finish(void);

/* The functions of the C library. The others of this family call them. */
static struct {
    int (*execve)(const char *, char *const *, char *const *);
    int (*execvpe)(const char *, char *const *, char *const *);
    int (*fexecve)(int, char *const *, char *const *);
    int (*execveat)(int, const char *, char *const *, char *const *, int);
    void (*exit_without_handlers)(int);
} next;

/* The process that the recorder records. A child of `vfork` has the memory of its parent, and must
 * not end the recording of the parent. */
static pid_t recorded_process;

static void set_recorded_process(void) { recorded_process = getpid(); }

/* Constructors of other libraries may call an exported function before the constructor of this
 * library. */
static void find_next_functions(void) {
    if (next.execve == NULL) {
        *(void **)&next.execvpe = dlsym(RTLD_NEXT, "execvpe");
        *(void **)&next.fexecve = dlsym(RTLD_NEXT, "fexecve");
        *(void **)&next.execveat = dlsym(RTLD_NEXT, "execveat");
        *(void **)&next.exit_without_handlers = dlsym(RTLD_NEXT, "_exit");
        *(void **)&next.execve = dlsym(RTLD_NEXT, "execve");
    }
}

/* Whether a path, relative to a folder, is a folder. */
static int is_folder(int folder, const char *path) {
    const int file = openat(folder, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (file >= 0) {
        close(file);
    }
    return file >= 0;
}

/* Whether a path is that of a program. The permission to execute a folder means another thing. */
static int is_executable(const char *path) {
    return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0 && !is_folder(AT_FDCWD, path);
}

/* Whether the search path contains a program with this name. */
static int is_in_search_path(const char *name) {
    const char *folder = getenv("PATH");
    char path[PATH_MAX];
    if (folder == NULL) {
        folder = USUAL_PATH;
    }
    for (;;) {
        const size_t length = strcspn(folder, ":");
        const int bytes = snprintf(path, sizeof path, "%.*s%s%s", length < PATH_MAX ? (int)length : 0, folder,
                                   length == 0 ? "" : "/", name);
        if (bytes > 0 && (size_t)bytes < sizeof path && is_executable(path)) {
            return 1;
        }
        if (folder[length] == '\0') {
            return 0;
        }
        folder += length + 1;
    }
}

/* Ends the recording. A recorder cannot begin again, so the caller first checks whether the program
 * exists. */
static void end_recording(void) {
    const int error = errno;
    if (getpid() == recorded_process) {
        tumit_end_counters();
        tumit_end_functions();
        tumit_end_openmp();
        tumit1_finish();
    }
    errno = error;
}

/* `quick_exit` calls the handlers of `at_quick_exit`. The handler of this library is the first one
 * that is registered, and the last one that is called. */
__attribute__((constructor)) static void prepare_exec(void) {
    find_next_functions();
    set_recorded_process();
    pthread_atfork(NULL, NULL, set_recorded_process);
    (void)at_quick_exit(end_recording);
}

static _Noreturn void exit_without_handlers(int status) {
    find_next_functions();
    end_recording();
    next.exit_without_handlers(status);
    abort(); /* never reached */
}

void _exit(int status);
EXPORTED _Noreturn void _exit(int status) { exit_without_handlers(status); }

void _Exit(int status);
EXPORTED _Noreturn void _Exit(int status) { exit_without_handlers(status); }

static int replace_by_path(const char *path, char *const *arguments, char *const *variables) {
    find_next_functions();
    if (path != NULL && is_executable(path)) {
        end_recording();
    }
    return next.execve(path, arguments, variables);
}

static int replace_by_name(const char *name, char *const *arguments, char *const *variables) {
    find_next_functions();
    if (name != NULL && (strchr(name, '/') != NULL ? is_executable(name) : is_in_search_path(name))) {
        end_recording();
    }
    return next.execvpe(name, arguments, variables);
}

int execve(const char *path, char *const arguments[], char *const variables[]);
EXPORTED int execve(const char *path, char *const arguments[], char *const variables[]) {
    return replace_by_path(path, arguments, variables);
}

int execv(const char *path, char *const arguments[]);
EXPORTED int execv(const char *path, char *const arguments[]) { return replace_by_path(path, arguments, environ); }

int execvp(const char *name, char *const arguments[]);
EXPORTED int execvp(const char *name, char *const arguments[]) { return replace_by_name(name, arguments, environ); }

int execvpe(const char *name, char *const arguments[], char *const variables[]);
EXPORTED int execvpe(const char *name, char *const arguments[], char *const variables[]) {
    return replace_by_name(name, arguments, variables);
}

int fexecve(int file, char *const arguments[], char *const variables[]);
EXPORTED int fexecve(int file, char *const arguments[], char *const variables[]) {
    find_next_functions();
    if (fcntl(file, F_GETFD) >= 0 && !is_folder(file, ".")) {
        end_recording();
    }
    return next.fexecve(file, arguments, variables);
}

int execveat(int folder, const char *path, char *const arguments[], char *const variables[], int flags);
EXPORTED int execveat(int folder, const char *path, char *const arguments[], char *const variables[], int flags) {
    find_next_functions();
    if (next.execveat == NULL) {
        errno = ENOSYS;
        return -1;
    }
    if (faccessat(folder, path, X_OK, AT_EACCESS | (flags & AT_EMPTY_PATH)) == 0) {
        end_recording();
    }
    return next.execveat(folder, path, arguments, variables, flags);
}

/* Copies the variable arguments of a function to an array on the stack, as the C library does. A
 * null pointer ends the arguments. Afterwards, the list is at the argument after this pointer. */
#define COPY_ARGUMENTS(first, list)                                                                                    \
    size_t count = 1, position;                                                                                        \
    va_start(list, first);                                                                                             \
    while (va_arg(list, char *) != NULL) {                                                                             \
        count++;                                                                                                       \
    }                                                                                                                  \
    va_end(list);                                                                                                      \
    char *arguments[count + 1];                                                                                        \
    va_start(list, first);                                                                                             \
    arguments[0] = (char *)(uintptr_t)first;                                                                           \
    for (position = 1; position <= count; position++) {                                                                \
        arguments[position] = va_arg(list, char *);                                                                    \
    }

int execl(const char *path, const char *first, ...);
EXPORTED int execl(const char *path, const char *first, ...) {
    va_list list;
    COPY_ARGUMENTS(first, list)
    va_end(list);
    return replace_by_path(path, arguments, environ);
}

int execlp(const char *name, const char *first, ...);
EXPORTED int execlp(const char *name, const char *first, ...) {
    va_list list;
    COPY_ARGUMENTS(first, list)
    va_end(list);
    return replace_by_name(name, arguments, environ);
}

int execle(const char *path, const char *first, ...);
EXPORTED int execle(const char *path, const char *first, ...) {
    char *const *variables;
    va_list list;
    COPY_ARGUMENTS(first, list)
    variables = va_arg(list, char *const *);
    va_end(list);
    return replace_by_path(path, arguments, variables);
}
