/* ---- The clock: raw ticks; the converter does the arithmetic ---- */

/* The first bytes of a file as text, cut at the first newline. Returns its length, 0 when it cannot be read. */
TUMIT1_SLOW size_t tumit1_read_line(const char *path, char *text, size_t room) {
    ssize_t got;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    text[0] = '\0';
    if (file < 0) {
        return 0;
    }
    got = read(file, text, room - 1);
    close(file);
    text[got > 0 ? got : 0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    return strlen(text);
}

TUMIT1_SLOW uint64_t tumit1_nanos(clockid_t which) {
    struct timespec t;
    if (clock_gettime(which, &t) != 0) {
        return 0;
    }
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Chooses the clock, under the lock. The kernel has judged whether the time-stamp counter can be trusted: its verdict is taken. */
TUMIT1_SLOW void tumit1_clock_choose(void) {
    struct tumit1_clock *clock = &tumit1_clock;
    char boot[64], name_space[64], source[32];
    uint32_t kind = TUMIT1_CLOCK_MONOTONIC_RAW;
    ssize_t length;
    if (__atomic_load_n(&tumit1_clock_kind, __ATOMIC_ACQUIRE) != 0) {
        return;
    }
    clock->hz = 1000000000u;
#if defined __x86_64__ || defined __i386__
    tumit1_read_line("/sys/devices/system/clocksource/clocksource0/current_clocksource", source, sizeof source);
    if (strcmp(source, "tsc") == 0) {
        kind = TUMIT1_CLOCK_TSC;
        clock->hz = 0; /* the anchors tell */
    }
#elif defined __aarch64__
    (void)source;
    kind = TUMIT1_CLOCK_ARM;
    __asm__ __volatile__("mrs %0, cntfrq_el0" : "=r"(clock->hz));
#else
    (void)source;
#endif
    if (kind == TUMIT1_CLOCK_MONOTONIC_RAW && tumit1_nanos(CLOCK_MONOTONIC_RAW) == 0) {
        kind = TUMIT1_CLOCK_MONOTONIC;
    }
    tumit1_read_line("/proc/sys/kernel/random/boot_id", boot, sizeof boot);
    length = readlink("/proc/self/ns/time", name_space, sizeof name_space - 1);
    name_space[length > 0 ? length : 0] = '\0';
    snprintf(clock->domain, sizeof clock->domain, "%s %s", boot, name_space);
    __atomic_store_n(&tumit1_clock_kind, kind, __ATOMIC_RELEASE);
}

TUMIT1_SLOW uint64_t tumit1_now_slow(void) {
    uint32_t kind = __atomic_load_n(&tumit1_clock_kind, __ATOMIC_ACQUIRE);
    if (kind == 0) {
        uint32_t busy = tumit1_lock_all();
        tumit1_clock_choose();
        tumit1_unlock(busy);
        kind = __atomic_load_n(&tumit1_clock_kind, __ATOMIC_ACQUIRE);
    }
    switch (kind) {
#if defined __x86_64__ || defined __i386__
    case TUMIT1_CLOCK_TSC:
        return __builtin_ia32_rdtsc();
#elif defined __aarch64__
    case TUMIT1_CLOCK_ARM: {
        uint64_t ticks;
        __asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(ticks));
        return ticks;
    }
#endif
    case TUMIT1_CLOCK_USER:
        return tumit1_clock.user();
    case TUMIT1_CLOCK_MONOTONIC:
        return tumit1_nanos(CLOCK_MONOTONIC);
    default:
        return tumit1_nanos(CLOCK_MONOTONIC_RAW);
    }
}

/* The date now, in ticks of this process's clock: for fields of type `date`. */
TUMIT1_HOT tumit1_date tumit1_now(void) {
#if defined TUMIT_CLOCK
    return (uint64_t)(TUMIT_CLOCK());
#elif defined __x86_64__ || defined __i386__
    if (TUMIT1_LIKELY(__atomic_load_n(&tumit1_clock_kind, __ATOMIC_RELAXED) == TUMIT1_CLOCK_TSC)) {
        return __builtin_ia32_rdtsc();
    }
    return tumit1_now_slow();
#else
    return tumit1_now_slow();
#endif
}

/* A clock of the program's own, before the first record: `hz` ticks a second (0 when unknown), and a `domain`: processes
 * that give equal texts say that they read one clock. It must never run backwards in a thread. Returns 0, or -1 when it
 * is too late. The same at compile time, for all records of a translation unit: TUMIT_CLOCK(), TUMIT_CLOCK_HZ and
 * TUMIT_CLOCK_DOMAIN, defined alike in all of them. */
TUMIT1_SLOW int tumit1_set_clock(uint64_t (*ticks)(void), uint64_t hz, const char *domain) {
    int result = -1;
    uint32_t busy = tumit1_lock_all();
    if (tumit1_session.state == TUMIT1_CLOSED) {
        tumit1_clock.user = ticks;
        tumit1_clock.hz = hz;
        snprintf(tumit1_clock.domain, sizeof tumit1_clock.domain, "%s", domain);
        __atomic_store_n(&tumit1_clock_kind, (uint32_t)TUMIT1_CLOCK_USER, __ATOMIC_RELEASE);
        result = 0;
    }
    tumit1_unlock(busy);
    return result;
}
