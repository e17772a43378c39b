/* The functions for files that record the calls of a program. */

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
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "code_names/runtime_code.h"
#include "io_trace.h"
#include "mpi/preload.h"

#define EXPORTED __attribute__((visibility("default")))
/* Whether the program itself calls the function that contains this expression. Calls of MPI and
 * OpenMP libraries, and calls inside MPI procedures, are not recorded. */
#define IS_PROGRAM_CALL() (tumit_mpi_depth == 0 && !tumit_is_runtime_code(__builtin_return_address(0)))
/* A call of a buffered file that takes at least as long has used the file itself, in ticks of the
 * clock: one to four microseconds. */
#define LONG_CALL 4096

int __wrap_pthread_mutex_lock(pthread_mutex_t *);

#include "next_calls.h"

#include "file_names.h"

/* ---- Calls with a descriptor ---- */

static void begin_call(enum io_io_operation operation, const struct open_file *file) {
    if (file->kind == FILE_OF_DISK) {
        io_file_call_begin(operation, file->name);
    } else {
        io_channel_call_begin(operation, file->name);
    }
}

static void end_call(enum io_io_operation operation, const struct open_file *file, int64_t bytes) {
    if (file->kind == FILE_OF_DISK) {
        io_file_call_end(operation, bytes);
    } else {
        io_channel_call_end(bytes);
    }
}

/* Records a call around an expression, and returns its value. The value of `errno` is that of the
 * expression. */
#define RECORD_CALL(type, operation, descriptor, expression)                                                           \
    do {                                                                                                               \
        struct open_file file;                                                                                         \
        type result;                                                                                                   \
        int error = errno;                                                                                             \
        ensure_next_functions();                                                                                       \
        if (!IS_PROGRAM_CALL()) {                                                                                      \
            return (expression);                                                                                       \
        }                                                                                                              \
        file = file_of(descriptor);                                                                                    \
        begin_call(operation, &file);                                                                                  \
        errno = error;                                                                                                 \
        result = (expression);                                                                                         \
        error = errno;                                                                                                 \
        end_call(operation, &file, (int64_t)result);                                                                   \
        errno = error;                                                                                                 \
        return result;                                                                                                 \
    } while (0)

#define READ io_io_operation_read
#define WRITE io_io_operation_write
#define SYNC io_io_operation_sync

EXPORTED ssize_t read(int fd, void *bytes, size_t count) { RECORD_CALL(ssize_t, READ, fd, next.read(fd, bytes, count)); }
EXPORTED ssize_t write(int fd, const void *bytes, size_t count) {
    RECORD_CALL(ssize_t, WRITE, fd, next.write(fd, bytes, count));
}
EXPORTED ssize_t pread(int fd, void *bytes, size_t count, off_t offset) {
    RECORD_CALL(ssize_t, READ, fd, next.pread(fd, bytes, count, offset));
}
EXPORTED ssize_t pread64(int fd, void *bytes, size_t count, off64_t offset) {
    RECORD_CALL(ssize_t, READ, fd, next.pread64(fd, bytes, count, offset));
}
EXPORTED ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) {
    RECORD_CALL(ssize_t, WRITE, fd, next.pwrite(fd, bytes, count, offset));
}
EXPORTED ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t offset) {
    RECORD_CALL(ssize_t, WRITE, fd, next.pwrite64(fd, bytes, count, offset));
}
EXPORTED ssize_t readv(int fd, const struct iovec *parts, int count) {
    RECORD_CALL(ssize_t, READ, fd, next.readv(fd, parts, count));
}
EXPORTED ssize_t writev(int fd, const struct iovec *parts, int count) {
    RECORD_CALL(ssize_t, WRITE, fd, next.writev(fd, parts, count));
}
EXPORTED ssize_t preadv(int fd, const struct iovec *parts, int count, off_t offset) {
    RECORD_CALL(ssize_t, READ, fd, next.preadv(fd, parts, count, offset));
}
EXPORTED ssize_t preadv64(int fd, const struct iovec *parts, int count, off64_t offset) {
    RECORD_CALL(ssize_t, READ, fd, next.preadv64(fd, parts, count, offset));
}
EXPORTED ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset) {
    RECORD_CALL(ssize_t, WRITE, fd, next.pwritev(fd, parts, count, offset));
}
EXPORTED ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t offset) {
    RECORD_CALL(ssize_t, WRITE, fd, next.pwritev64(fd, parts, count, offset));
}
EXPORTED int fsync(int fd) { RECORD_CALL(int, SYNC, fd, next.fsync(fd)); }
EXPORTED int fdatasync(int fd) { RECORD_CALL(int, SYNC, fd, next.fdatasync(fd)); }

/* ---- Opening and closing ---- */

/* The mode of a file that a call creates; 0 without one. */
#define MODE(flags, mode)                                                                                              \
    do {                                                                                                               \
        va_list arguments;                                                                                             \
        va_start(arguments, flags);                                                                                    \
        if (((flags) & O_CREAT) != 0 || ((flags) & O_TMPFILE) == O_TMPFILE) {                                          \
            mode = va_arg(arguments, mode_t);                                                                          \
        }                                                                                                              \
        va_end(arguments);                                                                                             \
    } while (0)

/* Records the opening of a file around an expression, and returns its value. */
#define RECORD_OPEN(type, path, expression, descriptor_of)                                                             \
    do {                                                                                                               \
        type result;                                                                                                   \
        int error = errno;                                                                                             \
        ensure_next_functions();                                                                                       \
        if (!IS_PROGRAM_CALL()) {                                                                                      \
            result = (expression);                                                                                     \
            forget_file(descriptor_of(result));                                                                        \
            return result;                                                                                             \
        }                                                                                                              \
        io_file_call_begin(io_io_operation_open, stored_name(path));                                                   \
        errno = error;                                                                                                 \
        result = (expression);                                                                                         \
        error = errno;                                                                                                 \
        forget_file(descriptor_of(result));                                                                            \
        io_file_call_end(io_io_operation_open, 0);                                                                     \
        errno = error;                                                                                                 \
        return result;                                                                                                 \
    } while (0)
#define SAME(descriptor) (descriptor)

EXPORTED int open(const char *path, int flags, ...) {
    mode_t mode = 0;
    MODE(flags, mode);
    RECORD_OPEN(int, path, next.open(path, flags, mode), SAME);
}
EXPORTED int open64(const char *path, int flags, ...) {
    mode_t mode = 0;
    MODE(flags, mode);
    RECORD_OPEN(int, path, next.open64(path, flags, mode), SAME);
}
EXPORTED int openat(int folder, const char *path, int flags, ...) {
    mode_t mode = 0;
    MODE(flags, mode);
    RECORD_OPEN(int, path, next.openat(folder, path, flags, mode), SAME);
}
EXPORTED int openat64(int folder, const char *path, int flags, ...) {
    mode_t mode = 0;
    MODE(flags, mode);
    RECORD_OPEN(int, path, next.openat64(folder, path, flags, mode), SAME);
}
EXPORTED int creat(const char *path, mode_t mode) { RECORD_OPEN(int, path, next.creat(path, mode), SAME); }
EXPORTED int creat64(const char *path, mode_t mode) { RECORD_OPEN(int, path, next.creat64(path, mode), SAME); }

EXPORTED int close(int fd) {
    struct open_file file;
    int result, error = errno;
    ensure_next_functions();
    if (!IS_PROGRAM_CALL()) {
        forget_file(fd);
        return next.close(fd);
    }
    file = file_of(fd);
    begin_call(io_io_operation_close, &file);
    forget_file(fd);
    errno = error;
    result = next.close(fd);
    error = errno;
    end_call(io_io_operation_close, &file, 0);
    errno = error;
    return result;
}

EXPORTED int dup2(int fd, int copy) {
    ensure_next_functions();
    forget_file(copy);
    return next.dup2(fd, copy);
}
EXPORTED int dup3(int fd, int copy, int flags) {
    ensure_next_functions();
    forget_file(copy);
    return next.dup3(fd, copy, flags);
}

/* ---- Buffered files ---- */

static int descriptor_of_stream(FILE *stream) { return stream == NULL ? -1 : fileno(stream); }

EXPORTED FILE *fopen(const char *path, const char *mode) {
    RECORD_OPEN(FILE *, path, next.fopen(path, mode), descriptor_of_stream);
}
EXPORTED FILE *fopen64(const char *path, const char *mode) {
    RECORD_OPEN(FILE *, path, next.fopen64(path, mode), descriptor_of_stream);
}

/* Records a call of a buffered file that began earlier, if it was long. The record has the bytes of
 * the earlier calls, too. */
static void record_buffered_call(enum io_io_operation operation, FILE *stream, tumit1_date begin, uint64_t bytes) {
    const int error = errno;
    const int descriptor = descriptor_of_stream(stream);
    const struct open_file file = file_of(descriptor);
    if (file.kind == FILE_OF_DISK && descriptor >= 0 && descriptor < DESCRIPTORS) {
        uint64_t *sum = &open_files[descriptor].buffered_bytes;
        __atomic_add_fetch(sum, bytes, __ATOMIC_RELAXED);
        if (tumit1_now() - begin >= LONG_CALL) {
            io_buffered_call(operation, file.name, begin, (int64_t)__atomic_exchange_n(sum, 0, __ATOMIC_RELAXED));
        }
        open_files[descriptor].is_written = operation == WRITE;
    }
    errno = error;
}

/* Records a call of a buffered file around an expression, and returns its value, `result`. */
#define RECORD_BUFFERED_CALL(type, operation, stream, bytes, expression)                                               \
    do {                                                                                                               \
        tumit1_date begin;                                                                                             \
        type result;                                                                                                   \
        ensure_next_functions();                                                                                       \
        if (!IS_PROGRAM_CALL()) {                                                                                      \
            return (expression);                                                                                       \
        }                                                                                                              \
        begin = tumit1_now();                                                                                          \
        result = (expression);                                                                                         \
        record_buffered_call(operation, stream, begin, bytes);                                                         \
        return result;                                                                                                 \
    } while (0)

EXPORTED size_t fread(void *bytes, size_t size, size_t count, FILE *stream) {
    RECORD_BUFFERED_CALL(size_t, READ, stream, (uint64_t)result * size, next.fread(bytes, size, count, stream));
}

EXPORTED size_t fwrite(const void *bytes, size_t size, size_t count, FILE *stream) {
    RECORD_BUFFERED_CALL(size_t, WRITE, stream, (uint64_t)result * size, next.fwrite(bytes, size, count, stream));
}

/* Without a stream, it writes the buffers of all files, which have no names here. */
EXPORTED int fflush(FILE *stream) {
    if (stream == NULL) {
        ensure_next_functions();
        return next.fflush(stream);
    }
    RECORD_BUFFERED_CALL(int, WRITE, stream, 0, next.fflush(stream));
}

/* The record of the end contains the bytes that are still in the buffer. */
EXPORTED int fclose(FILE *stream) {
    struct open_file file;
    enum io_io_operation operation = io_io_operation_close;
    tumit1_date begin;
    uint64_t bytes = 0;
    int descriptor, result, error;
    ensure_next_functions();
    descriptor = descriptor_of_stream(stream);
    if (!IS_PROGRAM_CALL() || (file = file_of(descriptor)).kind != FILE_OF_DISK) {
        forget_file(descriptor);
        return next.fclose(stream);
    }
    if (descriptor >= 0 && descriptor < DESCRIPTORS) {
        bytes = __atomic_load_n(&open_files[descriptor].buffered_bytes, __ATOMIC_RELAXED);
        if (bytes != 0) {
            operation = open_files[descriptor].is_written ? WRITE : READ;
        }
    }
    forget_file(descriptor);
    begin = tumit1_now();
    result = next.fclose(stream);
    error = errno;
    io_buffered_call(operation, file.name, begin, (int64_t)bytes);
    errno = error;
    return result;
}

/* ---- Start, and child processes ---- */

static void unlock_names(void) { pthread_mutex_init(&names_lock, NULL); }

/* The function of this library, also if another one replaces it. */
__typeof__(fflush) tumit_own_flush __attribute__((alias("fflush"), visibility("hidden")));

/* Prepares the recorder if this copy of the library exports its functions. Another thread of the
 * parent may hold the lock when it forks. */
__attribute__((constructor)) static void prepare_io(void) {
    if (dlsym(RTLD_DEFAULT, "fflush") == (void *)tumit_own_flush) {
        TUMIT_REGISTER_IO();
        pthread_atfork(NULL, NULL, unlock_names);
    }
}

/* ---- Programs with checks of buffers (`_FORTIFY_SOURCE`) ---- */

#define CHECK(is_valid)                                                                                                \
    do {                                                                                                               \
        if (!(is_valid)) {                                                                                             \
            __chk_fail();                                                                                              \
        }                                                                                                              \
    } while (0)

void __chk_fail(void) __attribute__((noreturn));
int __open_2(const char *, int);
int __open64_2(const char *, int);
int __openat_2(int, const char *, int);
int __openat64_2(int, const char *, int);
ssize_t __read_chk(int, void *, size_t, size_t);
ssize_t __pread_chk(int, void *, size_t, off_t, size_t);
ssize_t __pread64_chk(int, void *, size_t, off64_t, size_t);
size_t __fread_chk(void *, size_t, size_t, size_t, FILE *);

EXPORTED int __open_2(const char *path, int flags) { RECORD_OPEN(int, path, next.open(path, flags), SAME); }
EXPORTED int __open64_2(const char *path, int flags) { RECORD_OPEN(int, path, next.open64(path, flags), SAME); }
EXPORTED int __openat_2(int folder, const char *path, int flags) {
    RECORD_OPEN(int, path, next.openat(folder, path, flags), SAME);
}
EXPORTED int __openat64_2(int folder, const char *path, int flags) {
    RECORD_OPEN(int, path, next.openat64(folder, path, flags), SAME);
}
EXPORTED ssize_t __read_chk(int fd, void *bytes, size_t count, size_t room) {
    CHECK(count <= room);
    RECORD_CALL(ssize_t, READ, fd, next.read(fd, bytes, count));
}
EXPORTED ssize_t __pread_chk(int fd, void *bytes, size_t count, off_t offset, size_t room) {
    CHECK(count <= room);
    RECORD_CALL(ssize_t, READ, fd, next.pread(fd, bytes, count, offset));
}
EXPORTED ssize_t __pread64_chk(int fd, void *bytes, size_t count, off64_t offset, size_t room) {
    CHECK(count <= room);
    RECORD_CALL(ssize_t, READ, fd, next.pread64(fd, bytes, count, offset));
}
EXPORTED size_t __fread_chk(void *bytes, size_t room, size_t size, size_t count, FILE *stream) {
    CHECK(size == 0 || count <= room / size);
    RECORD_BUFFERED_CALL(size_t, READ, stream, (uint64_t)result * size, next.fread(bytes, size, count, stream));
}
