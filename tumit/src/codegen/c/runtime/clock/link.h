/* ---- Clock samples of several processes, over a channel that the program has between them ----
 *
 * From a few requests and answers the converter computes the differences of clocks. Take samples
 * at the start and at the end, and in long runs also in between, because the drift of clocks is
 * best visible in samples that are far apart. Write `#define TUMIT_SYNC` before this header in
 * each file that takes samples. MPI programs do not need it: see TUMIT_MPI. A Rust program
 * participates with `tracer_rt::samples`, which sends the same messages. */

#if defined TUMIT_SYNC || defined TUMIT_MPI

/* The channel to the other processes. The program chooses their numbers. Each function sends or
 * receives one message of 24 bytes without delay. It returns 0 or an errno, which ends the
 * exchange and is returned to the caller. */
struct tumit1_link {
    int (*send_)(void *user_, uint32_t peer_, const void *message_);
    int (*receive_)(void *user_, uint32_t peer_, void *message_);
    void *user_;
    uint32_t me_;   /* for tumit1_sync() and tumit1_sync_point(): number of this process, from 0 */
    uint32_t size_; /* number of processes */
    uint64_t points_, next_check_, since_; /* for the recorder only; initially 0 */
};
#define TUMIT1_MESSAGE 24
#define TUMIT1_SYNC_HELLO UINT64_C(0x7401)

#ifndef TUMIT_OFF
/* Takes samples with these peers. Each of them calls tumit1_sync_answer(). The samples form one
 * burst, so pass all peers in one call. This function and the next three start recording, as a
 * first record does. A process that does not record answers, too. They return 0 or an errno: the
 * error of the link, or EPROTO when a peer sends a message of another call. */
TUMIT1_CALL int tumit1_sync_ask(const struct tumit1_link *link_, const uint32_t *peers_,
                                size_t count_);
TUMIT1_CALL int tumit1_sync_answer(const struct tumit1_link *link_, uint32_t peer_);
/* Takes samples among all processes of the link. All of them must call it. Process 0 determines
 * the number of exchanges. */
TUMIT1_CALL int tumit1_sync(struct tumit1_link *link_);
/* Takes samples if the last ones are older than a minute (TUMIT_SYNC_SECONDS) by the clock of
 * process 0. All processes must call it, for example in an outer loop. Most calls only count.
 * When process 0 reads its clock, it also determines the call at which it reads the clock next. */
TUMIT1_CALL int tumit1_sync_point(struct tumit1_link *link_);
#endif

TUMIT1_HOT int tumit1_link_send(const struct tumit1_link *link_, uint32_t peer_, uint64_t one_,
                                uint64_t two_, uint64_t three_) {
    unsigned char message_[TUMIT1_MESSAGE];
    tumit1_put_u64(tumit1_put_u64(tumit1_put_u64(message_, one_), two_), three_);
    return link_->send_(link_->user_, peer_, message_);
}
TUMIT1_HOT int tumit1_link_receive(const struct tumit1_link *link_, uint32_t peer_,
                                   uint64_t words_[3]) {
    unsigned char message_[TUMIT1_MESSAGE];
    const int error_ = link_->receive_(link_->user_, peer_, message_);
    if (error_ == 0) {
        memcpy(words_, message_, sizeof message_);
    }
    return error_;
}
#endif
