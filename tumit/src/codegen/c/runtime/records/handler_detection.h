/* ---- Detection of a running signal handler. The handler may have interrupted the allocator or
 * other code that is not reentrant. The start of a session calls such code, so it must not run
 * then ---- */

/* The unwinder of all languages, declared under names of the recorder, because not every
 * compiler has its header. */
int tumit1_unwind(int (*each_)(void *, void *), void *found_) __asm__("_Unwind_Backtrace");
const void *tumit1_find_frame(void *code_, void **bases_) __asm__("_Unwind_Find_FDE");
uintptr_t tumit1_frame(void *frame_, int *interrupted_) __asm__("_Unwind_GetIPInfo");

/* The result of a walk up the stack. */
struct tumit1_stack_walk {
    uintptr_t last_; /* address of execution in the last frame */
    int interrupted_;
};

TUMIT1_SLOW(int tumit1_visit_frame(void *frame_, void *data_)) {
    struct tumit1_stack_walk *walk_ = (struct tumit1_stack_walk *)data_;
    const uintptr_t address_ = tumit1_frame(frame_, &walk_->interrupted_);
    walk_->last_ = address_ != 0 ? address_ : walk_->last_;
    return walk_->interrupted_ ? 4 : 0; /* _URC_NORMAL_STOP, or continue */
}

/* The dynamic section, which statically linked programs do not have. Their unwinder has a lock,
 * so a handler that interrupted a walk of the recorder must not walk. The same applies to a
 * handler that interrupted a C++ throw, but that cannot be detected. */
extern const char tumit1_dynamic __asm__("_DYNAMIC")
    __attribute__((__weak__, __visibility__("hidden")));
TUMIT1_SLOW(int tumit1_can_walk_stack(void)) {
    return &tumit1_dynamic != NULL || tumit1_cursor.stack_walks_ == 0;
}

TUMIT1_SLOW(void tumit1_walk_stack(struct tumit1_stack_walk *walk_)) {
    tumit1_cursor.stack_walks_++;
    (void)tumit1_unwind(tumit1_visit_frame, walk_);
    tumit1_cursor.stack_walks_--;
}

/* Whether the unwinder knows this code. At the end of a static program it knows no code, and
 * would abort. */
TUMIT1_SLOW(int tumit1_has_unwind_info(uintptr_t code_)) {
    void *bases_[4] = {NULL, NULL, NULL, NULL};
    int has_info_;
    tumit1_cursor.stack_walks_++;
    has_info_ = tumit1_find_frame((void *)code_, bases_) != NULL;
    tumit1_cursor.stack_walks_--;
    return has_info_;
}

/* Whether the calling thread is in a signal handler: one of its frames is a signal frame of the
 * system. Takes a few microseconds, without memory allocation and without locks of the program. */
TUMIT1_SLOW(int tumit1_in_signal_handler(void)) {
    struct tumit1_stack_walk walk_ = {0, 0};
#ifndef TUMIT1_BROKEN_HANDLER_DETECTION
    if (!tumit1_can_walk_stack()) {
        return 1;
    }
    if (tumit1_has_unwind_info((uintptr_t)tumit1_in_signal_handler)) {
        tumit1_walk_stack(&walk_);
    }
#endif
    return walk_.interrupted_;
}

/* Whether a signal handler jumped out of the record of the calling thread (`siglongjmp`). The
 * thread is then inside a record, and no handler runs. If the stack cannot be unwound to its
 * end, or if the program's clock records, the record counts as nested. */
TUMIT1_SLOW(int tumit1_left_a_record(const struct tumit1_cursor *c_)) {
    struct tumit1_stack_walk walk_ = {0, 0};
    if (c_->locked_ || c_->user_clock_calls_ || !tumit1_can_walk_stack() ||
        !tumit1_has_unwind_info((uintptr_t)tumit1_in_signal_handler)) {
        return 0;
    }
    tumit1_walk_stack(&walk_);
    return !walk_.interrupted_ && walk_.last_ != 0 && tumit1_has_unwind_info(walk_.last_ - 1);
}
