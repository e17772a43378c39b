/* Waits for mutexes, reader-writer locks, conditions, semaphores and barriers. Each function first
 * tries its operation without a wait. */

/* ---- Mutexes ---- */

/* Bit of the kind of a mutex that several processes share. */
#define SHARED_BY_PROCESSES 128

/* The thread that has a mutex. 0 if it may belong to another process. */
static uint64_t mutex_owner(const pthread_mutex_t *mutex) {
    return (mutex->__data.__kind & SHARED_BY_PROCESSES) != 0 ? 0 : (uint64_t)mutex->__data.__owner;
}

/* Records a wait for a mutex around an expression. */
#define RECORD_MUTEX_WAIT(mutex, expression)                                                                           \
    record_first_thread();                                                                                             \
    threads_mutex_wait_begin(ADDRESS(mutex), mutex_owner(mutex));                                       \
    result = (expression);                                                                                             \
    threads_mutex_wait_end(ADDRESS(mutex))

EXPORTED int pthread_mutex_lock(pthread_mutex_t *mutex) {
    int result;
    ensure_next_functions();
    result = next.pthread_mutex_trylock(mutex);
    if (__builtin_expect(result != EBUSY, 1)) {
        return result;
    }
    if (!IS_PROGRAM_CALL()) {
        return next.pthread_mutex_lock(mutex);
    }
    RECORD_MUTEX_WAIT(mutex, next.pthread_mutex_lock(mutex));
    return result;
}

EXPORTED int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *end) {
    int result;
    ensure_next_functions();
    result = next.pthread_mutex_trylock(mutex);
    if (result != EBUSY) {
        return result;
    }
    if (!IS_PROGRAM_CALL()) {
        return next.pthread_mutex_timedlock(mutex, end);
    }
    RECORD_MUTEX_WAIT(mutex, next.pthread_mutex_timedlock(mutex, end));
    return result;
}

EXPORTED int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock, const struct timespec *end) {
    int result;
    ensure_next_functions();
    result = next.pthread_mutex_trylock(mutex);
    if (result != EBUSY) {
        return result;
    }
    if (!IS_PROGRAM_CALL()) {
        return next.pthread_mutex_clocklock(mutex, clock, end);
    }
    RECORD_MUTEX_WAIT(mutex, next.pthread_mutex_clocklock(mutex, clock, end));
    return result;
}

/* ---- Reader-writer locks ---- */

/* Tries to get a reader-writer lock, and records the wait around an expression if another thread
 * has it. */
#define RECORD_RWLOCK_WAIT(lock, access, try_function, expression)                                                     \
    do {                                                                                                               \
        ensure_next_functions();                                                                                       \
        result = next.try_function(lock);                                                                              \
        if (__builtin_expect(result != EBUSY, 1)) {                                                                    \
            return result;                                                                                             \
        }                                                                                                              \
        if (!IS_PROGRAM_CALL()) {                                                                                      \
            return (expression);                                                                                       \
        }                                                                                                              \
        record_first_thread();                                                                                         \
        threads_rwlock_wait_begin(threads_lock_access_##access, ADDRESS(lock), (uint64_t)(lock)->__data.__cur_writer); \
        result = (expression);                                                                                         \
        threads_rwlock_wait_end(ADDRESS(lock));                                                                        \
    } while (0)

EXPORTED int pthread_rwlock_rdlock(pthread_rwlock_t *lock) {
    int result;
    RECORD_RWLOCK_WAIT(lock, read, pthread_rwlock_tryrdlock, next.pthread_rwlock_rdlock(lock));
    return result;
}

EXPORTED int pthread_rwlock_wrlock(pthread_rwlock_t *lock) {
    int result;
    RECORD_RWLOCK_WAIT(lock, write, pthread_rwlock_trywrlock, next.pthread_rwlock_wrlock(lock));
    return result;
}

EXPORTED int pthread_rwlock_timedrdlock(pthread_rwlock_t *lock, const struct timespec *end) {
    int result;
    RECORD_RWLOCK_WAIT(lock, read, pthread_rwlock_tryrdlock, next.pthread_rwlock_timedrdlock(lock, end));
    return result;
}

EXPORTED int pthread_rwlock_timedwrlock(pthread_rwlock_t *lock, const struct timespec *end) {
    int result;
    RECORD_RWLOCK_WAIT(lock, write, pthread_rwlock_trywrlock, next.pthread_rwlock_timedwrlock(lock, end));
    return result;
}

EXPORTED int pthread_rwlock_clockrdlock(pthread_rwlock_t *lock, clockid_t clock, const struct timespec *end) {
    int result;
    RECORD_RWLOCK_WAIT(lock, read, pthread_rwlock_tryrdlock, next.pthread_rwlock_clockrdlock(lock, clock, end));
    return result;
}

EXPORTED int pthread_rwlock_clockwrlock(pthread_rwlock_t *lock, clockid_t clock, const struct timespec *end) {
    int result;
    RECORD_RWLOCK_WAIT(lock, write, pthread_rwlock_trywrlock, next.pthread_rwlock_clockwrlock(lock, clock, end));
    return result;
}

/* ---- Conditions ---- */

/* Records a wait for a condition around an expression. */
#define RECORD_CONDITION_WAIT(condition, expression)                                                                   \
    do {                                                                                                               \
        struct wait wait;                                                                                              \
        struct wait_end end;                                                                                           \
        record_first_thread();                                                                                         \
        wait = note_wait_begin(condition);                                                                             \
        threads_condition_wait_begin(ADDRESS(condition));                                                              \
        result = (expression);                                                                                         \
        end = note_wait_end(&wait, result == 0);                                                                       \
        threads_condition_wait_end(end.thread, end.time, end.number);                                                  \
    } while (0)

EXPORTED int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex) {
    int result;
    ensure_next_functions();
    if (!IS_PROGRAM_CALL()) {
        return next.pthread_cond_wait(condition, mutex);
    }
    RECORD_CONDITION_WAIT(condition, next.pthread_cond_wait(condition, mutex));
    return result;
}

EXPORTED int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *time) {
    int result;
    ensure_next_functions();
    if (!IS_PROGRAM_CALL()) {
        return next.pthread_cond_timedwait(condition, mutex, time);
    }
    RECORD_CONDITION_WAIT(condition, next.pthread_cond_timedwait(condition, mutex, time));
    return result;
}

EXPORTED int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock,
                                    const struct timespec *time) {
    int result;
    ensure_next_functions();
    if (!IS_PROGRAM_CALL()) {
        return next.pthread_cond_clockwait(condition, mutex, clock, time);
    }
    RECORD_CONDITION_WAIT(condition, next.pthread_cond_clockwait(condition, mutex, clock, time));
    return result;
}

EXPORTED int pthread_cond_signal(pthread_cond_t *condition) {
    ensure_next_functions();
    note_waker(condition);
    return next.pthread_cond_signal(condition);
}

EXPORTED int pthread_cond_broadcast(pthread_cond_t *condition) {
    ensure_next_functions();
    note_waker(condition);
    return next.pthread_cond_broadcast(condition);
}

/* ---- Semaphores ---- */

/* The functions refuse other times, also if they need not wait. */
static int is_valid_time(const struct timespec *time) { return time->tv_nsec >= 0 && time->tv_nsec < 1000000000; }

/* Tries to decrease a semaphore, and records the wait around an expression if this fails. */
#define RECORD_SEMAPHORE_WAIT(semaphore, is_valid, expression)                                                         \
    do {                                                                                                               \
        const int error = errno;                                                                                       \
        struct wait wait;                                                                                              \
        struct wait_end end;                                                                                           \
        ensure_next_functions();                                                                                       \
        /* The functions are cancellation points, also if they do not wait. */                                         \
        pthread_testcancel();                                                                                          \
        if ((is_valid) && next.sem_trywait(semaphore) == 0) {                                                          \
            return 0;                                                                                                  \
        }                                                                                                              \
        errno = error;                                                                                                 \
        if (!IS_PROGRAM_CALL()) {                                                                                      \
            return (expression);                                                                                       \
        }                                                                                                              \
        record_first_thread();                                                                                         \
        wait = note_wait_begin(semaphore);                                                                             \
        threads_semaphore_wait_begin(ADDRESS(semaphore));                                                              \
        result = (expression);                                                                                         \
        end = note_wait_end(&wait, result == 0);                                                                       \
        threads_semaphore_wait_end(ADDRESS(semaphore), end.thread, end.time, end.number);                              \
    } while (0)

EXPORTED int sem_wait(sem_t *semaphore) {
    int result;
    RECORD_SEMAPHORE_WAIT(semaphore, 1, next.sem_wait(semaphore));
    return result;
}

EXPORTED int sem_timedwait(sem_t *semaphore, const struct timespec *time) {
    int result;
    RECORD_SEMAPHORE_WAIT(semaphore, is_valid_time(time), next.sem_timedwait(semaphore, time));
    return result;
}

EXPORTED int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *time) {
    int result;
    RECORD_SEMAPHORE_WAIT(semaphore, is_valid_time(time), next.sem_clockwait(semaphore, clock, time));
    return result;
}

EXPORTED int sem_post(sem_t *semaphore) {
    ensure_next_functions();
    note_waker(semaphore);
    return next.sem_post(semaphore);
}

/* ---- Barriers ---- */

EXPORTED int pthread_barrier_wait(pthread_barrier_t *barrier) {
    int result;
    ensure_next_functions();
    if (!IS_PROGRAM_CALL()) {
        return next.pthread_barrier_wait(barrier);
    }
    record_first_thread();
    threads_barrier_wait_begin(ADDRESS(barrier));
    result = next.pthread_barrier_wait(barrier);
    threads_barrier_wait_end();
    return result;
}
