/* ---- Samples of the clocks of several processes, over a channel that the program has between them ----
 *
 * From a few requests and their answers the converter finds how clocks differ. Take them at the start and at the end, and in between in long
 * runs: the drift of clocks shows best when samples are far apart. `#define TUMIT_SYNC` before this header in each file that takes samples;
 * programs of MPI need none of this: see TUMIT_MPI. A Rust program takes part by `tracer_rt::samples`; the messages are the same. */

#if defined TUMIT_SYNC || defined TUMIT_MPI

/* How to reach the other processes, which the program numbers as it likes. Each call sends or receives one message of 24 bytes, at once, and
 * returns 0, or an errno, which is given to the caller and ends the exchange. */
struct tumit1_link {
    int (*send_)(void *user_, uint32_t peer_, const void *message_);
    int (*receive_)(void *user_, uint32_t peer_, void *message_);
    void *user_;
    uint32_t me_;   /* for tumit1_sync() and tumit1_sync_point(): the number of this process, */
    uint32_t size_; /* and of how many, counted from 0 */
    uint64_t points_, look_, since_; /* the recorder's own: 0 at first */
};
#define TUMIT1_MESSAGE 24
#define TUMIT1_SYNC_HELLO UINT64_C(0x7401)

#ifndef TUMIT_OFF
/* Takes samples with these peers, each of which calls tumit1_sync_answer(): one burst, so give all of them at once. This and the next three begin
 * recording, as a first record does; a process that does not record answers all the same. They return 0, or an errno: what the link said, or
 * EPROTO when a peer sends what belongs to another call. */
TUMIT1_CALL int tumit1_sync_ask(const struct tumit1_link *link_, const uint32_t *peers_, size_t count_);
TUMIT1_CALL int tumit1_sync_answer(const struct tumit1_link *link_, uint32_t peer_);
/* Takes samples among all processes of the link: all of them call it. Number 0's choice of how many exchanges counts for all. */
TUMIT1_CALL int tumit1_sync(struct tumit1_link *link_);
/* The same if the last samples are older than a minute (TUMIT_SYNC_SECONDS) by number 0's watch: all of them call it, as in an outer loop. Most
 * calls count and do nothing else: at which one number 0 looks at its watch next is agreed when it looks. */
TUMIT1_CALL int tumit1_sync_point(struct tumit1_link *link_);
#endif

TUMIT1_HOT int tumit1_link_send(const struct tumit1_link *link_, uint32_t peer_, uint64_t one_, uint64_t two_, uint64_t three_) {
    unsigned char message_[TUMIT1_MESSAGE];
    tumit1_put_u64(tumit1_put_u64(tumit1_put_u64(message_, one_), two_), three_);
    return link_->send_(link_->user_, peer_, message_);
}
TUMIT1_HOT int tumit1_link_receive(const struct tumit1_link *link_, uint32_t peer_, uint64_t words_[3]) {
    unsigned char message_[TUMIT1_MESSAGE];
    const int error_ = link_->receive_(link_->user_, peer_, message_);
    if (error_ == 0) {
        memcpy(words_, message_, sizeof message_);
    }
    return error_;
}
#endif
