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

/* Whether the calling thread stands in a signal handler: among its frames is one that the system made, which interrupted another. Takes
 * a few microseconds; no memory, no lock of the program's. */
TUMIT1_SLOW(int tumit1_in_handler(void)) {
    struct tumit1_walk walk_ = {0, 0};
#ifndef TUMIT1_BROKEN_HANDLERS
    void *bases_[4] = {NULL, NULL, NULL, NULL};
    /* At the end of a static program the unwinder knows nothing any more: it would abort. */
    if (tumit1_find_frame((void *)(uintptr_t)tumit1_in_handler, bases_) != NULL) {
        (void)tumit1_unwind(tumit1_look_at_frame, &walk_);
    }
#endif
    return walk_.interrupted_;
}

/* Whether a signal handler jumped out of the record that the calling thread was in (`siglongjmp`): it is inside one, and no handler runs. Where
 * the way up the stack is not known to its end, and where the program's own clock records, it is taken for nested. */
TUMIT1_SLOW(int tumit1_was_left(const struct tumit1_cursor *c_)) {
    struct tumit1_walk walk_ = {0, 0};
    void *bases_[4] = {NULL, NULL, NULL, NULL};
    if (c_->locked_ || c_->asks_ || tumit1_find_frame((void *)(uintptr_t)tumit1_in_handler, bases_) == NULL) {
        return 0;
    }
    (void)tumit1_unwind(tumit1_look_at_frame, &walk_);
    return !walk_.interrupted_ && walk_.last_ != 0 && tumit1_find_frame((void *)(walk_.last_ - 1), bases_) != NULL;
}
