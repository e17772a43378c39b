/* The functions of the C library that the exported functions replace. */

/* The functions: return type, name, parameters. */
#define THREAD_CALLS(CALL)                                                                                             \
    CALL(int, pthread_create, (pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))                        \
    CALL(int, pthread_join, (pthread_t, void **))                                                                      \
    CALL(int, pthread_tryjoin_np, (pthread_t, void **))                                                                \
    CALL(int, pthread_timedjoin_np, (pthread_t, void **, const struct timespec *))                                     \
    CALL(int, pthread_clockjoin_np, (pthread_t, void **, clockid_t, const struct timespec *))                          \
    CALL(int, pthread_mutex_lock, (pthread_mutex_t *))                                                                 \
    CALL(int, pthread_mutex_trylock, (pthread_mutex_t *))                                                              \
    CALL(int, pthread_mutex_timedlock, (pthread_mutex_t *, const struct timespec *))                                   \
    CALL(int, pthread_mutex_clocklock, (pthread_mutex_t *, clockid_t, const struct timespec *))                        \
    CALL(int, pthread_rwlock_rdlock, (pthread_rwlock_t *))                                                             \
    CALL(int, pthread_rwlock_tryrdlock, (pthread_rwlock_t *))                                                          \
    CALL(int, pthread_rwlock_wrlock, (pthread_rwlock_t *))                                                             \
    CALL(int, pthread_rwlock_trywrlock, (pthread_rwlock_t *))                                                          \
    CALL(int, pthread_rwlock_timedrdlock, (pthread_rwlock_t *, const struct timespec *))                               \
    CALL(int, pthread_rwlock_timedwrlock, (pthread_rwlock_t *, const struct timespec *))                               \
    CALL(int, pthread_rwlock_clockrdlock, (pthread_rwlock_t *, clockid_t, const struct timespec *))                    \
    CALL(int, pthread_rwlock_clockwrlock, (pthread_rwlock_t *, clockid_t, const struct timespec *))                    \
    CALL(int, pthread_cond_wait, (pthread_cond_t *, pthread_mutex_t *))                                                \
    CALL(int, pthread_cond_timedwait, (pthread_cond_t *, pthread_mutex_t *, const struct timespec *))                  \
    CALL(int, pthread_cond_clockwait, (pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *))       \
    CALL(int, pthread_cond_signal, (pthread_cond_t *))                                                                 \
    CALL(int, pthread_cond_broadcast, (pthread_cond_t *))                                                              \
    CALL(int, pthread_barrier_wait, (pthread_barrier_t *))                                                             \
    CALL(int, sem_wait, (sem_t *))                                                                                     \
    CALL(int, sem_trywait, (sem_t *))                                                                                  \
    CALL(int, sem_timedwait, (sem_t *, const struct timespec *))                                                       \
    CALL(int, sem_clockwait, (sem_t *, clockid_t, const struct timespec *))                                            \
    CALL(int, sem_post, (sem_t *))

#define DECLARE_CALL(result, name, parameters) result(*name) parameters;
static struct { THREAD_CALLS(DECLARE_CALL) } next;

/* The default version of a function. `dlsym` may return an older one, whose conditions have another
 * size. */
static void *next_function(const char *name) {
    void *function = strncmp(name, "pthread_cond_", 13) == 0 ? dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2") : NULL;
    return function != NULL ? function : dlsym(RTLD_NEXT, name);
}

/* Finds all functions. Constructors of other libraries may call an exported function before the
 * constructor of this one. */
__attribute__((constructor)) static void find_next_functions(void) {
#define FIND_CALL(result, name, parameters) *(void **)&next.name = next_function(#name);
    THREAD_CALLS(FIND_CALL)
#undef FIND_CALL
}

static inline void ensure_next_functions(void) {
    if (__builtin_expect(next.sem_post == NULL, 0)) {
        find_next_functions();
    }
}

/* The recorder itself calls these functions, and must not be recorded. The linker redirects its
 * calls to functions with the prefix `__wrap_`. */
int __wrap_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument) {
    ensure_next_functions();
    return next.pthread_create(thread, attributes, start, argument);
}
int __wrap_pthread_join(pthread_t, void **);
int __wrap_pthread_join(pthread_t thread, void **result) {
    ensure_next_functions();
    return next.pthread_join(thread, result);
}
int __wrap_pthread_mutex_lock(pthread_mutex_t *);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex) {
    ensure_next_functions();
    return next.pthread_mutex_lock(mutex);
}
