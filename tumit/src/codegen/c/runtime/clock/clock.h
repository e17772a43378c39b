/* ---- The clock: raw ticks. The converter does the arithmetic ---- */

/* A counter of 32 bits has wrapped if it decreases by more than half of its range. */
#define TUMIT1_WRAP_FALL ((uint64_t)1 << 31)

/* Reads the first bytes of a file as text, up to the first newline. Returns the length, or 0
 * when the file cannot be read. */
TUMIT1_SLOW(size_t tumit1_read_line(const char *path_, char *text_, size_t room_)) {
    ssize_t got_;
    int file_ = open(path_, O_RDONLY | O_CLOEXEC);
    text_[0] = '\0';
    if (file_ < 0) {
        return 0;
    }
    got_ = read(file_, text_, room_ - 1);
    close(file_);
    text_[got_ > 0 ? got_ : 0] = '\0';
    text_[strcspn(text_, "\n")] = '\0';
    return strlen(text_);
}

TUMIT1_SLOW(uint64_t tumit1_nanos(clockid_t which_)) {
    struct timespec t_;
    if (clock_gettime(which_, &t_) != 0) {
        return 0;
    }
    return (uint64_t)t_.tv_sec * 1000000000u + (uint64_t)t_.tv_nsec;
}

/* Chooses the clock. The caller holds the lock. The processor's counter is used only if the
 * kernel uses it, because the kernel checks its reliability. */
TUMIT1_SLOW(void tumit1_choose_system_clock(void)) {
    struct tumit1_clock *clock_ = &tumit1_clock;
    char boot_[64], name_space_[64], source_[32];
    uint32_t kind_ = TUMIT1_CLOCK_MONOTONIC_RAW;
    ssize_t length_;
    if (__atomic_load_n(&tumit1_clock_kind, __ATOMIC_ACQUIRE) != 0) {
        return;
    }
    clock_->hz_ = 1000000000u;
    tumit1_read_line("/sys/devices/system/clocksource/clocksource0/current_clocksource", source_,
                     sizeof source_);
#if defined __x86_64__ || defined __i386__
    if (strcmp(source_, "tsc") == 0) {
        kind_ = TUMIT1_CLOCK_TSC;
        clock_->hz_ = 0; /* measured by the anchors */
    }
#elif defined __aarch64__
    if (strcmp(source_, "arch_sys_counter") == 0) {
        kind_ = TUMIT1_CLOCK_ARM;
        __asm__ __volatile__("mrs %0, cntfrq_el0" : "=r"(clock_->hz_));
    }
#endif
    if (kind_ == TUMIT1_CLOCK_MONOTONIC_RAW && tumit1_nanos(CLOCK_MONOTONIC_RAW) == 0) {
        kind_ = TUMIT1_CLOCK_MONOTONIC;
    }
    tumit1_read_line("/proc/sys/kernel/random/boot_id", boot_, sizeof boot_);
    length_ = readlink("/proc/self/ns/time", name_space_, sizeof name_space_ - 1);
    name_space_[length_ > 0 ? length_ : 0] = '\0';
    snprintf(clock_->domain_, sizeof clock_->domain_, "%s %s", boot_, name_space_);
    __atomic_store_n(&tumit1_clock_kind, kind_, __ATOMIC_RELEASE);
}

/* The timestamp of a clock of the program. A counter of 32 bits restarts at 0 every 2^32 ticks,
 * and then decreases by nearly this number. A smaller decrease is a clock step backwards, and is
 * not unwrapped. The writer thread reads the clock each second, so that no wrap is missed while
 * nothing is recorded. Lock-free. */
uint64_t tumit1_unwrapped(uint64_t ticks_) {
    struct tumit1_clock *clock_ = &tumit1_clock;
    uint64_t latest_ = __atomic_load_n(&clock_->latest_, __ATOMIC_RELAXED), now_;
    if (ticks_ >> 32 != 0) {
        __atomic_store_n(&clock_->wide_, 1, __ATOMIC_RELAXED);
        return ticks_;
    }
    if (__atomic_load_n(&clock_->wide_, __ATOMIC_RELAXED)) {
        return ticks_;
    }
    do {
        now_ = (latest_ >> 32 << 32) + ticks_;
        if (latest_ > now_ && latest_ - now_ > TUMIT1_WRAP_FALL) {
            now_ += (uint64_t)1 << 32;
        } else if (now_ >> 32 != 0 && now_ > latest_ && now_ - latest_ > TUMIT1_WRAP_FALL) {
            now_ -= (uint64_t)1 << 32; /* read before another thread noticed the overflow */
        }
    } while (now_ > latest_ && !__atomic_compare_exchange_n(&clock_->latest_, &latest_, now_, 1,
                                                            __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return now_;
}

uint64_t tumit1_now_slow(void) {
    uint32_t kind_ = __atomic_load_n(&tumit1_clock_kind, __ATOMIC_ACQUIRE);
    uint64_t now_;
    if (kind_ == 0) {
        uint32_t busy_ = tumit1_lock_state();
        tumit1_choose_system_clock();
        tumit1_unlock_state(busy_);
        kind_ = __atomic_load_n(&tumit1_clock_kind, __ATOMIC_ACQUIRE);
    }
    switch (kind_) {
#if defined __x86_64__ || defined __i386__
    case TUMIT1_CLOCK_TSC:
        return __builtin_ia32_rdtsc();
#elif defined __aarch64__
    case TUMIT1_CLOCK_ARM:
        return tumit1_counter();
#endif
    case TUMIT1_CLOCK_USER:
        tumit1_cursor.user_clock_calls_++;
        now_ = tumit1_unwrapped(tumit1_clock.user_());
        tumit1_cursor.user_clock_calls_--;
        return now_;
    case TUMIT1_CLOCK_MONOTONIC:
        return tumit1_nanos(CLOCK_MONOTONIC);
    default:
        return tumit1_nanos(CLOCK_MONOTONIC_RAW);
    }
}

int tumit1_choose_user_clock(uint64_t (*ticks_)(void), uint64_t hz_, const char *domain_,
                             int inline_) {
    int result_ = -1;
    uint32_t busy_ = tumit1_lock_state();
    if (tumit1_session.state_ == TUMIT1_CLOSED) {
        tumit1_clock.user_ = ticks_;
        tumit1_clock.inline_ = inline_;
        tumit1_clock.hz_ = hz_;
        snprintf(tumit1_clock.domain_, sizeof tumit1_clock.domain_, "%s",
                 domain_ == NULL ? "" : domain_);
        __atomic_store_n(&tumit1_clock_kind, (uint32_t)TUMIT1_CLOCK_USER, __ATOMIC_RELEASE);
        result_ = 0;
    }
    tumit1_unlock_state(busy_);
    return result_;
}
int tumit1_set_clock(uint64_t (*ticks_)(void), uint64_t hz_, const char *domain_) {
    return tumit1_choose_user_clock(ticks_, hz_, domain_, 0);
}
