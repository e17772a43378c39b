/* ---- TUMIT_OFF: nothing is recorded; what programs may call is still there and does nothing ---- */

TUMIT1_HOT tumit1_date tumit1_now(void) { return 0; }
TUMIT1_HOT uint64_t tumit1_new_task(void) { return 0; }
TUMIT1_HOT int tumit1_set_level(const char *name_, int on_) {
    (void)name_;
    (void)on_;
    return 0;
}
TUMIT1_HOT void tumit1_set_thread_name(const char *name_) { (void)name_; }
TUMIT1_HOT int tumit1_set_clock(uint64_t (*ticks_)(void), uint64_t hz_, const char *domain_) {
    (void)ticks_;
    (void)hz_;
    (void)domain_;
    return 0;
}
TUMIT1_HOT void tumit1_flush(void) {}

/* What recording functions call: nothing comes of it, and no code either. */
TUMIT1_HOT unsigned char *tumit1_try(uint32_t on_, uint32_t index_, size_t bytes_) {
    (void)on_;
    (void)index_;
    (void)bytes_;
    return NULL;
}
TUMIT1_HOT unsigned char *tumit1_begin(uint32_t id_, size_t bytes_) { return tumit1_try(0, id_, bytes_); }
TUMIT1_HOT void tumit1_end(unsigned char *p_) { (void)p_; }
TUMIT1_HOT uint32_t tumit1_intern(const char *text_) {
    (void)text_;
    return 0;
}
TUMIT1_HOT uint32_t tumit1_site_id(struct tumit1_site *site_) {
    (void)site_;
    return 0;
}
TUMIT1_HOT size_t tumit1_count(size_t count_) {
    (void)count_;
    return 0;
}
TUMIT1_HOT size_t tumit1_text_bytes(const char *text_) {
    (void)text_;
    return 0;
}

#ifdef TUMIT_MPI
TUMIT1_HOT void tumit1_mpi_start(void) {}
TUMIT1_HOT void tumit1_mpi_sync(void) {}
TUMIT1_HOT void tumit1_mpi_finish(void) {}
#endif
