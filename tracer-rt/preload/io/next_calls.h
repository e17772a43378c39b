/* The functions of the C library that the exported functions replace. */

/* The functions: return type, name, parameters. Those whose name ends with 64 have 64-bit offsets
 * on all machines. */
#define FILE_CALLS(CALL)                                                                                               \
    CALL(int, open, (const char *, int, ...))                                                                          \
    CALL(int, open64, (const char *, int, ...))                                                                        \
    CALL(int, openat, (int, const char *, int, ...))                                                                   \
    CALL(int, openat64, (int, const char *, int, ...))                                                                 \
    CALL(int, creat, (const char *, mode_t))                                                                           \
    CALL(int, creat64, (const char *, mode_t))                                                                         \
    CALL(int, close, (int))                                                                                            \
    CALL(int, dup2, (int, int))                                                                                        \
    CALL(int, dup3, (int, int, int))                                                                                   \
    CALL(ssize_t, read, (int, void *, size_t))                                                                         \
    CALL(ssize_t, write, (int, const void *, size_t))                                                                  \
    CALL(ssize_t, pread, (int, void *, size_t, off_t))                                                                 \
    CALL(ssize_t, pread64, (int, void *, size_t, off64_t))                                                             \
    CALL(ssize_t, pwrite, (int, const void *, size_t, off_t))                                                          \
    CALL(ssize_t, pwrite64, (int, const void *, size_t, off64_t))                                                      \
    CALL(ssize_t, readv, (int, const struct iovec *, int))                                                             \
    CALL(ssize_t, writev, (int, const struct iovec *, int))                                                            \
    CALL(ssize_t, preadv, (int, const struct iovec *, int, off_t))                                                     \
    CALL(ssize_t, preadv64, (int, const struct iovec *, int, off64_t))                                                 \
    CALL(ssize_t, pwritev, (int, const struct iovec *, int, off_t))                                                    \
    CALL(ssize_t, pwritev64, (int, const struct iovec *, int, off64_t))                                                \
    CALL(int, fsync, (int))                                                                                            \
    CALL(int, fdatasync, (int))                                                                                        \
    CALL(FILE *, fopen, (const char *, const char *))                                                                  \
    CALL(FILE *, fopen64, (const char *, const char *))                                                                \
    CALL(int, fclose, (FILE *))                                                                                        \
    CALL(int, fflush, (FILE *))                                                                                        \
    CALL(size_t, fread, (void *, size_t, size_t, FILE *))                                                              \
    CALL(size_t, fwrite, (const void *, size_t, size_t, FILE *))

#define DECLARE_CALL(result, name, parameters) result(*name) parameters;
static struct { FILE_CALLS(DECLARE_CALL) } next;

/* Finds all functions. Constructors of other libraries may call an exported function before the
 * constructor of this one. */
__attribute__((constructor)) static void find_next_functions(void) {
#define FIND_CALL(result, name, parameters) *(void **)&next.name = dlsym(RTLD_NEXT, #name);
    FILE_CALLS(FIND_CALL)
#undef FIND_CALL
}

static inline void ensure_next_functions(void) {
    if (__builtin_expect(next.fwrite == NULL, 0)) {
        find_next_functions();
    }
}

/* The recorder itself calls these functions, and must not be recorded. The linker redirects its
 * calls to functions with the prefix `__wrap_`. */
int __wrap_open(const char *, int, ...);
int __wrap_open(const char *path, int flags, ...) {
    mode_t mode = 0;
    va_list arguments;
    va_start(arguments, flags);
    if ((flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE) {
        mode = va_arg(arguments, mode_t);
    }
    va_end(arguments);
    ensure_next_functions();
    return next.open(path, flags, mode);
}
int __wrap_close(int);
int __wrap_close(int descriptor) {
    ensure_next_functions();
    return next.close(descriptor);
}
ssize_t __wrap_read(int, void *, size_t);
ssize_t __wrap_read(int descriptor, void *bytes, size_t count) {
    ensure_next_functions();
    return next.read(descriptor, bytes, count);
}
ssize_t __wrap_pread(int, void *, size_t, off_t);
ssize_t __wrap_pread(int descriptor, void *bytes, size_t count, off_t offset) {
    ensure_next_functions();
    return next.pread(descriptor, bytes, count, offset);
}
ssize_t __wrap_pwrite(int, const void *, size_t, off_t);
ssize_t __wrap_pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
    ensure_next_functions();
    return next.pwrite(descriptor, bytes, count, offset);
}
