/* ---- Whether a signal handler runs. What it interrupted may be the allocator, or whatever else that can be entered once: the
 * start of a session asks for that ---- */

/* The unwinder of all languages, under names of our own: its header is not there with every compiler. */
int tumit1_unwind(int (*each_)(void *, void *), void *found_) __asm__("_Unwind_Backtrace");
const void *tumit1_find_frame(void *code_, void **bases_) __asm__("_Unwind_Find_FDE");
uintptr_t tumit1_frame(void *frame_, int *interrupted_) __asm__("_Unwind_GetIPInfo");

TUMIT1_SLOW(int tumit1_look_at_frame(void *frame_, void *found_)) {
    int interrupted_ = 0;
    (void)tumit1_frame(frame_, &interrupted_);
    *(int *)found_ = interrupted_;
    return interrupted_ ? 4 : 0; /* _URC_NORMAL_STOP, or on */
}

/* Whether the calling thread stands in a signal handler: among its frames is one that the system made, which interrupted another. Takes
 * a few microseconds; no memory, no lock of the program's. */
TUMIT1_SLOW(int tumit1_in_handler(void)) {
    int found_ = 0;
#ifndef TUMIT1_BROKEN_HANDLERS
    void *bases_[4] = {NULL, NULL, NULL, NULL};
    /* At the end of a static program the unwinder knows nothing any more: it would abort. */
    if (tumit1_find_frame((void *)(uintptr_t)tumit1_in_handler, bases_) != NULL) {
        (void)tumit1_unwind(tumit1_look_at_frame, &found_);
    }
#endif
    return found_;
}
