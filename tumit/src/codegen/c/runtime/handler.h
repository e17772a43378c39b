/* ---- Whether a signal handler runs. What it interrupted may be the allocator, or whatever else that can be entered once: the
 * start of a session asks for that ---- */

/* The unwinder of all languages, under names of our own: its header is not there with every compiler. */
int tumit1_unwind(int (*each_)(void *, void *), void *found_) __asm__("_Unwind_Backtrace");
const void *tumit1_find_frame(void *code_, void **bases_) __asm__("_Unwind_Find_FDE");
uintptr_t tumit1_frame(void *frame_, int *interrupted_) __asm__("_Unwind_GetIPInfo");

/* What a walk up the stack found. */
struct tumit1_walk {
    uintptr_t last_; /* where its last frame was executing */
    int interrupted_;
};

TUMIT1_SLOW(int tumit1_look_at_frame(void *frame_, void *found_)) {
    struct tumit1_walk *walk_ = (struct tumit1_walk *)found_;
    const uintptr_t at_ = tumit1_frame(frame_, &walk_->interrupted_);
    walk_->last_ = at_ != 0 ? at_ : walk_->last_;
    return walk_->interrupted_ ? 4 : 0; /* _URC_NORMAL_STOP, or on */
}

/* The dynamic section, which statically linked programs do not have. Their unwinder has a lock: a handler that interrupted our own walk must not walk. (Nor
 * may one that interrupted a C++ throw; there is no way to know.) */
extern const char tumit1_dynamic __asm__("_DYNAMIC") __attribute__((__weak__, __visibility__("hidden")));
TUMIT1_SLOW(int tumit1_may_walk(void)) { return &tumit1_dynamic != NULL || tumit1_cursor.walks_ == 0; }

TUMIT1_SLOW(void tumit1_walk_up(struct tumit1_walk *walk_)) {
    tumit1_cursor.walks_++;
    (void)tumit1_unwind(tumit1_look_at_frame, walk_);
    tumit1_cursor.walks_--;
}

/* Whether the unwinder knows this code. At the end of a static program it knows nothing any more, and would abort. */
TUMIT1_SLOW(int tumit1_is_known(uintptr_t code_)) {
    void *bases_[4] = {NULL, NULL, NULL, NULL};
    int known_;
    tumit1_cursor.walks_++;
    known_ = tumit1_find_frame((void *)code_, bases_) != NULL;
    tumit1_cursor.walks_--;
    return known_;
}

/* Whether the calling thread stands in a signal handler: among its frames is one that the system made, which interrupted another. Takes
 * a few microseconds; no memory, no lock of the program's. */
TUMIT1_SLOW(int tumit1_in_handler(void)) {
    struct tumit1_walk walk_ = {0, 0};
#ifndef TUMIT1_BROKEN_HANDLERS
    if (!tumit1_may_walk()) {
        return 1;
    }
    if (tumit1_is_known((uintptr_t)tumit1_in_handler)) {
        tumit1_walk_up(&walk_);
    }
#endif
    return walk_.interrupted_;
}

/* Whether a signal handler jumped out of the record that the calling thread was in (`siglongjmp`): it is inside one, and no handler runs. Where
 * the way up the stack is not known to its end, and where the program's own clock records, it is taken for nested. */
TUMIT1_SLOW(int tumit1_was_left(const struct tumit1_cursor *c_)) {
    struct tumit1_walk walk_ = {0, 0};
    if (c_->locked_ || c_->asks_ || !tumit1_may_walk() || !tumit1_is_known((uintptr_t)tumit1_in_handler)) {
        return 0;
    }
    tumit1_walk_up(&walk_);
    return !walk_.interrupted_ && walk_.last_ != 0 && tumit1_is_known(walk_.last_ - 1);
}
