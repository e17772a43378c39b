/* ---- TUMIT_OFF: nothing is recorded. The functions for programs exist and do nothing ---- */

TUMIT1_HOT tumit1_date tumit1_now(void) { return 0; }
TUMIT1_HOT uint64_t tumit1_new_task(void) { return 0; }
TUMIT1_HOT int tumit1_set_level(const char *name_, int on_) {
    (void)name_;
    (void)on_;
    return 0;
}
TUMIT1_HOT void tumit1_set_thread_name(const char *name_) { (void)name_; }
TUMIT1_HOT void tumit1_set_stream_label(const char *label_) { (void)label_; }
TUMIT1_HOT int tumit1_set_clock(uint64_t (*ticks_)(void), uint64_t hz_, const char *domain_) {
    (void)ticks_;
    (void)hz_;
    (void)domain_;
    return 0;
}
struct tumit1_config {
    const char *folder_, *live_folder_, *policies_, *buffers_;
    uint64_t memory_bytes_;
};
TUMIT1_HOT int tumit1_start(const struct tumit1_config *config_) {
    (void)config_;
    return 0;
}
TUMIT1_HOT void tumit1_set_rank(int rank_, int ranks_) {
    (void)rank_;
    (void)ranks_;
}
TUMIT1_HOT void tumit1_flush(void) {}
TUMIT1_HOT void tumit1_dump(void) {}
TUMIT1_HOT void tumit1_finish(void) {}
TUMIT1_HOT void tumit1_pause(void) {}
TUMIT1_HOT void tumit1_resume(void) {}
struct tumit1_stats {
    uint64_t written_, dropped_, in_live_file_, file_bytes_, blocks_, streams_;
    uint32_t slots_, slots_free_, slots_full_;
    int mapped_, writer_thread_;
};
TUMIT1_HOT void tumit1_get_stats(struct tumit1_stats *stats_) { memset(stats_, 0, sizeof *stats_); }

#if defined TUMIT_SYNC || defined TUMIT_MPI
/* Clock samples: nothing is measured. The functions only answer the peers, which may record, so
 * that both sides exchange the same messages. */
TUMIT1_HOT int tumit1_sync_ask(const struct tumit1_link *link_, const uint32_t *peers_,
                               size_t count_) {
    uint64_t words_[3];
    size_t i_;
    int error_ = 0;
    for (i_ = 0; error_ == 0 && i_ < count_; i_++) {
        error_ = tumit1_link_send(link_, peers_[i_], 0, 0, TUMIT1_SYNC_HELLO << 48);
        error_ = error_ == 0 ? tumit1_link_receive(link_, peers_[i_], words_) : error_;
    }
    return error_;
}
TUMIT1_HOT int tumit1_sync_answer(const struct tumit1_link *link_, uint32_t peer_) {
    uint64_t words_[3];
    const int error_ = tumit1_link_receive(link_, peer_, words_);
    return error_ == 0 ? tumit1_link_send(link_, peer_, 0, 0, TUMIT1_SYNC_HELLO << 48) : error_;
}
/* All processes must be compiled with the same options for these. */
TUMIT1_HOT int tumit1_sync(struct tumit1_link *link_) {
    (void)link_;
    return 0;
}
TUMIT1_HOT int tumit1_sync_point(struct tumit1_link *link_) {
    (void)link_;
    return 0;
}
#endif

/* The functions that recording functions call. They have no effect and produce no code. */
#define TUMIT1_TRUNCATABLE 0u
struct tumit1_place {
    int none_;
};
TUMIT1_HOT unsigned char *tumit1_try(uint32_t on_, uint32_t index_, size_t bytes_,
                                     struct tumit1_place *to_) {
    (void)on_;
    (void)index_;
    (void)bytes_;
    (void)to_;
    return NULL;
}
TUMIT1_HOT unsigned char *tumit1_begin(uint32_t id_, size_t bytes_, struct tumit1_place *to_) {
    return tumit1_try(0, id_, bytes_, to_);
}
TUMIT1_HOT uint64_t tumit1_limit(const struct tumit1_place *to_) {
    (void)to_;
    return 0;
}
TUMIT1_HOT size_t tumit1_fit(struct tumit1_place *to_, uint64_t limit_, size_t fixed_,
                             const size_t *sizes_, size_t count_) {
    (void)to_;
    (void)limit_;
    (void)fixed_;
    (void)sizes_;
    (void)count_;
    return 0;
}
TUMIT1_HOT size_t tumit1_fit_text(const char *text_, size_t bytes_, size_t max_) {
    (void)text_;
    (void)bytes_;
    (void)max_;
    return 0;
}
TUMIT1_HOT size_t tumit1_fit_count(size_t count_, size_t each_, size_t max_) {
    (void)count_;
    (void)each_;
    (void)max_;
    return 0;
}
TUMIT1_HOT unsigned char *tumit1_begin_cut(uint32_t id_, size_t bytes_, struct tumit1_place *to_) {
    return tumit1_try(0, id_, bytes_, to_);
}
TUMIT1_HOT void tumit1_end(const struct tumit1_place *to_) { (void)to_; }
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
TUMIT1_HOT int tumit1_mpi_sync_point(void) { return 0; }
TUMIT1_HOT void tumit1_mpi_finish(void) {}
#endif
