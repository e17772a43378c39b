/* ---- Clock samples: the exchange, and the pairs of processes. The MPI part sends the same
 * messages ---- */

#if (defined TUMIT_SYNC || defined TUMIT_MPI) && !defined TUMIT_EXTERN

/* Number of exchanges with each peer, at most 1000, and the interval of samples at points in
 * seconds. The environment overrides them. 0 switches samples off. */
#ifndef TUMIT_SYNC_EXCHANGES
#define TUMIT_SYNC_EXCHANGES 300
#endif
#ifndef TUMIT_SYNC_SECONDS
#define TUMIT_SYNC_SECONDS 60
#endif
#define TUMIT1_SYNC_MAX 1000u
/* Exchanges come in groups with pauses between them. If there are more processes than cores, one
 * direction can be slow until the scheduler changes its assignment. Only groups at different
 * times find the fastest exchange in both directions. */
#define TUMIT1_SYNC_GROUP 30u
#define TUMIT1_SYNC_PAUSE_NANOS 300000
#define TUMIT1_SYNC_PLAN UINT64_C(0x7402)
#define TUMIT1_SYNC_POINT UINT64_C(0x7403)
#define TUMIT1_SYNC_NONE 0xffffffffu

/* A participant: the first bytes of its process id, 0 if it does not record; a number for its
 * clock; and its options. */
struct tumit1_hello {
    uint64_t id_, domain_;
    uint32_t burst_, exchanges_;
};
/* The minimum number of the next burst, and whether an invalid option was reported. */
struct tumit1_bursts {
    uint32_t next_;
    int reported_;
};
extern TUMIT1_WEAK struct tumit1_bursts tumit1_bursts;
struct tumit1_bursts tumit1_bursts;

TUMIT1_SLOW(uint32_t tumit1_sync_option(const char *name_, uint32_t default_number_)) {
    const int number_ = tumit1_env_number(name_);
    const char *text_ = tumit1_env(name_);
    if (number_ < 0 && text_ != NULL && !tumit1_bursts.reported_) {
        tumit1_bursts.reported_ = 1;
        tumit1_report_invalid(name_, text_, -1, "a whole number");
    }
    return number_ < 0 ? default_number_ : (uint32_t)number_;
}
TUMIT1_SLOW(uint32_t tumit1_sync_exchanges(void)) {
    const uint32_t count_ = tumit1_sync_option("TUMIT_SYNC_EXCHANGES", TUMIT_SYNC_EXCHANGES);
    return count_ < TUMIT1_SYNC_MAX ? count_ : TUMIT1_SYNC_MAX;
}

/* A number for a text, equal in all processes and languages (FNV-1a). */
TUMIT1_SLOW(uint64_t tumit1_hash_domain(const char *text_)) {
    uint64_t hash_ = UINT64_C(0xcbf29ce484222325);
    for (; *text_ != '\0'; text_++) {
        hash_ = (hash_ ^ (unsigned char)*text_) * UINT64_C(0x100000001b3);
    }
    return hash_;
}

/* The data of this process. The process begins to record unless it did before. */
TUMIT1_SLOW(struct tumit1_hello tumit1_sync_own_hello(void)) {
    struct tumit1_hello hello_ = {0, 0, 0, 0};
    const uint32_t busy_ = tumit1_begin_work();
    (void)tumit1_begin_session();
    if (tumit1_is_open()) {
        memcpy(&hello_.id_, tumit1_session.id_, sizeof hello_.id_);
        hello_.domain_ = tumit1_hash_domain(tumit1_clock.domain_);
    }
    tumit1_end_work(busy_);
    hello_.burst_ = tumit1_bursts.next_;
    hello_.exchanges_ = tumit1_sync_exchanges();
    return hello_;
}
TUMIT1_SLOW(uint64_t tumit1_sync_pack_options(const struct tumit1_hello *hello_)) {
    return (uint64_t)hello_->burst_ | (uint64_t)hello_->exchanges_ << 32 | TUMIT1_SYNC_HELLO << 48;
}
TUMIT1_SLOW(int tumit1_sync_send_hello(const struct tumit1_link *link_, uint32_t peer_,
                                       const struct tumit1_hello *hello_)) {
    return tumit1_link_send(link_, peer_, hello_->id_, hello_->domain_,
                            tumit1_sync_pack_options(hello_));
}
/* Parses the words of a message. Returns 0, or EPROTO when they are invalid. */
TUMIT1_SLOW(int tumit1_sync_parse_hello(const uint64_t words_[3], struct tumit1_hello *other_)) {
    other_->id_ = words_[0];
    other_->domain_ = words_[1];
    other_->burst_ = (uint32_t)words_[2];
    other_->exchanges_ = (uint32_t)(words_[2] >> 32) & 0xffffu;
    if (other_->exchanges_ > TUMIT1_SYNC_MAX) {
        other_->exchanges_ = TUMIT1_SYNC_MAX;
    }
    return words_[2] >> 48 == TUMIT1_SYNC_HELLO ? 0 : EPROTO;
}
TUMIT1_SLOW(int tumit1_sync_get_hello(const struct tumit1_link *link_, uint32_t peer_,
                                      struct tumit1_hello *other_)) {
    uint64_t words_[3];
    const int error_ = tumit1_link_receive(link_, peer_, words_);
    return error_ != 0 ? error_ : tumit1_sync_parse_hello(words_, other_);
}
TUMIT1_SLOW(int tumit1_sync_clocks_differ(const struct tumit1_hello *a_,
                                          const struct tumit1_hello *b_)) {
    return a_->id_ != 0 && b_->id_ != 0 && a_->domain_ != b_->domain_;
}
/* All participants of a burst continue after the highest number that one of them had. */
TUMIT1_SLOW(void tumit1_sync_set_next_burst(uint32_t burst_)) {
    if (tumit1_bursts.next_ <= burst_) {
        tumit1_bursts.next_ = burst_ + 1;
    }
}

/* Writes `count_` samples, which are after the room for a header. */
TUMIT1_SLOW(void tumit1_sync_write(unsigned char *block_, uint32_t count_, uint64_t first_,
                                   uint64_t last_)) {
    const uint32_t busy_ = tumit1_begin_work();
    tumit1_lock_writer();
    if (tumit1_is_open()) {
        (void)tumit1_append_plain(TUMIT1_KIND_SYNC, TUMIT1_PROCESS_STREAM, count_, block_,
                                  (size_t)count_ * 48u, first_, last_);
        tumit1_append_anchor();
    }
    pthread_mutex_unlock(&tumit1_writer_lock);
    tumit1_end_work(busy_);
}

/* Sends `count_` requests to a peer, after a first one that is not stored, because it may set up
 * a connection. Without memory, no sample is stored. */
TUMIT1_SLOW(int tumit1_sync_send_requests(const struct tumit1_link *link_, uint32_t peer_,
                                          uint64_t id_, uint32_t burst_, uint32_t count_)) {
    unsigned char *block_ =
        count_ == 0 ? NULL
                    : (unsigned char *)malloc(TUMIT1_HEADER_BYTES + (size_t)count_ * 48u + 8u);
    unsigned char *p_ = block_ == NULL ? NULL : block_ + TUMIT1_HEADER_BYTES;
    uint64_t first_ = 0, last_ = 0, words_[3] = {0, 0, 0};
    uint32_t i_;
    int error_ = 0;
    for (i_ = 0; error_ == 0 && count_ != 0 && i_ <= count_; i_++) {
        uint64_t sent_at_;
        if (i_ > 1 && (i_ - 1) % TUMIT1_SYNC_GROUP == 0) {
            struct timespec pause_ = {0, TUMIT1_SYNC_PAUSE_NANOS};
            (void)nanosleep(&pause_, NULL);
        }
        sent_at_ = tumit1_now_slow();
        error_ = tumit1_link_send(link_, peer_, 0, 0, i_);
        error_ = error_ == 0 ? tumit1_link_receive(link_, peer_, words_) : error_;
        last_ = tumit1_now_slow();
        if (error_ == 0 && words_[2] != i_) {
            error_ = EPROTO;
        }
        if (error_ != 0 || i_ == 0 || p_ == NULL) {
            continue;
        }
        first_ = i_ == 1 ? sent_at_ : first_;
        p_ = tumit1_put_u32(tumit1_put_u32(p_, burst_), i_ - 1);
        p_ = tumit1_put_u64(tumit1_put_u64(p_, id_), sent_at_);
        p_ = tumit1_put_u64(tumit1_put_u64(tumit1_put_u64(p_, words_[0]), words_[1]), last_);
    }
    if (error_ == 0 && block_ != NULL) {
        tumit1_sync_write(block_, count_, first_, last_);
    }
    free(block_);
    return error_;
}

/* Answers the requests of a peer that uses the same count. */
TUMIT1_SLOW(int tumit1_sync_answer_requests(const struct tumit1_link *link_, uint32_t peer_,
                                            uint32_t count_)) {
    uint32_t i_;
    int error_ = 0;
    for (i_ = 0; error_ == 0 && count_ != 0 && i_ <= count_; i_++) {
        uint64_t words_[3], got_;
        error_ = tumit1_link_receive(link_, peer_, words_);
        got_ = tumit1_now_slow();
        if (error_ == 0) {
            error_ = words_[2] == i_ ? tumit1_link_send(link_, peer_, got_, tumit1_now_slow(), i_)
                                     : EPROTO;
        }
    }
    return error_;
}

int tumit1_sync_ask(const struct tumit1_link *link_, const uint32_t *peers_, size_t count_) {
    const struct tumit1_hello hello_ = tumit1_sync_own_hello();
    struct tumit1_hello *peer_hellos_ =
        (struct tumit1_hello *)malloc((count_ + 1) * sizeof *peer_hellos_);
    uint32_t burst_ = hello_.burst_;
    size_t i_;
    int error_ = peer_hellos_ == NULL ? ENOMEM : 0;
    for (i_ = 0; error_ == 0 && i_ < count_; i_++) {
        error_ = tumit1_sync_send_hello(link_, peers_[i_], &hello_);
        error_ = error_ == 0 ? tumit1_sync_get_hello(link_, peers_[i_], &peer_hellos_[i_]) : error_;
        if (error_ == 0 && peer_hellos_[i_].burst_ > burst_) {
            burst_ = peer_hellos_[i_].burst_;
        }
    }
    tumit1_sync_set_next_burst(burst_);
    for (i_ = 0; error_ == 0 && i_ < count_; i_++) {
        if (tumit1_sync_clocks_differ(&hello_, &peer_hellos_[i_])) {
            error_ = tumit1_sync_send_requests(link_, peers_[i_], peer_hellos_[i_].id_, burst_,
                                               hello_.exchanges_);
        }
    }
    free(peer_hellos_);
    return error_;
}

int tumit1_sync_answer(const struct tumit1_link *link_, uint32_t peer_) {
    const struct tumit1_hello hello_ = tumit1_sync_own_hello();
    struct tumit1_hello peer_hello_;
    int error_ = tumit1_sync_get_hello(link_, peer_, &peer_hello_);
    if (error_ != 0) {
        return error_;
    }
    tumit1_sync_set_next_burst(hello_.burst_ > peer_hello_.burst_ ? hello_.burst_
                                                                  : peer_hello_.burst_);
    error_ = tumit1_sync_send_hello(link_, peer_, &hello_);
    return error_ == 0 && tumit1_sync_clocks_differ(&hello_, &peer_hello_)
               ? tumit1_sync_answer_requests(link_, peer_, peer_hello_.exchanges_)
               : error_;
}

/* Finds the first recording process of each clock. Returns their number. */
TUMIT1_SLOW(uint32_t tumit1_sync_leaders(const struct tumit1_hello *hellos_, uint32_t size_,
                                         uint32_t *leaders_)) {
    uint32_t count_ = 0, i_, j_;
    for (i_ = 0; i_ < size_; i_++) {
        for (j_ = 0; j_ < count_ && hellos_[leaders_[j_]].domain_ != hellos_[i_].domain_; j_++) {
        }
        if (hellos_[i_].id_ != 0 && j_ == count_) {
            leaders_[count_++] = i_;
        }
    }
    return count_;
}

/* One exchange of this leader. In round k, leader i exchanges with leader i XOR 2^k, and the
 * lower one sends the requests. */
TUMIT1_SLOW(int tumit1_sync_exchange_with(const struct tumit1_link *link_, uint32_t leader_,
                                          uint32_t round_, uint32_t peer_, uint64_t id_,
                                          uint32_t burst_, uint32_t count_)) {
    return (leader_ >> round_ & 1u) == 0
               ? tumit1_sync_send_requests(link_, peer_, id_, burst_, count_)
               : tumit1_sync_answer_requests(link_, peer_, count_);
}

/* All exchanges of the calling process, if it has the data of all participants. */
TUMIT1_SLOW(int tumit1_sync_rounds(const struct tumit1_link *link_,
                                   const struct tumit1_hello *hellos_, const uint32_t *leaders_,
                                   uint32_t count_, uint32_t burst_, uint32_t exchanges_)) {
    uint32_t leader_, round_;
    int error_ = 0;
    for (leader_ = 0; leader_ < count_ && leaders_[leader_] != link_->me_; leader_++) {
    }
    for (round_ = 0; leader_ < count_ && error_ == 0 && count_ > UINT64_C(1) << round_; round_++) {
        const uint32_t peer_ = leader_ ^ 1u << round_;
        if (peer_ < count_) {
            error_ = tumit1_sync_exchange_with(link_, leader_, round_, leaders_[peer_],
                                               hellos_[leaders_[peer_]].id_, burst_, exchanges_);
        }
    }
    return error_;
}

/* Process 0 sends a process the list of its peers. */
TUMIT1_SLOW(int tumit1_sync_send_plan(const struct tumit1_link *link_,
                                      const struct tumit1_hello *hellos_, const uint32_t *leaders_,
                                      uint32_t count_, uint32_t peer_, uint32_t burst_)) {
    uint32_t leader_, rounds_ = 0, round_;
    int error_;
    for (leader_ = 0; leader_ < count_ && leaders_[leader_] != peer_; leader_++) {
    }
    while (leader_ < count_ && hellos_[0].exchanges_ != 0 && count_ > UINT64_C(1) << rounds_) {
        rounds_++;
    }
    leader_ = leader_ < count_ ? leader_ : TUMIT1_SYNC_NONE;
    error_ =
        tumit1_link_send(link_, peer_, (uint64_t)leader_ | (uint64_t)rounds_ << 32,
                         (uint64_t)burst_ | (uint64_t)hellos_[0].exchanges_ << 32,
                         TUMIT1_SYNC_PLAN);
    for (round_ = 0; error_ == 0 && round_ < rounds_; round_++) {
        const uint32_t other_ = leader_ ^ 1u << round_;
        error_ = other_ < count_ ? tumit1_link_send(link_, peer_, leaders_[other_],
                                                    hellos_[leaders_[other_]].id_, round_)
                                 : tumit1_link_send(link_, peer_, TUMIT1_SYNC_NONE, 0, round_);
    }
    return error_;
}

TUMIT1_SLOW(int tumit1_sync_lead(const struct tumit1_link *link_)) {
    struct tumit1_hello *hellos_ = (struct tumit1_hello *)malloc(link_->size_ * sizeof *hellos_);
    uint32_t *leaders_ = (uint32_t *)malloc(link_->size_ * sizeof *leaders_);
    uint32_t count_ = 0, burst_ = 0, i_;
    int error_ = hellos_ == NULL || leaders_ == NULL ? ENOMEM : 0;
    if (error_ == 0) {
        hellos_[0] = tumit1_sync_own_hello();
        for (i_ = 1; error_ == 0 && i_ < link_->size_; i_++) {
            error_ = tumit1_sync_get_hello(link_, i_, &hellos_[i_]);
        }
    }
    if (error_ == 0) {
        count_ = tumit1_sync_leaders(hellos_, link_->size_, leaders_);
        for (i_ = 0; i_ < link_->size_; i_++) {
            burst_ = hellos_[i_].burst_ > burst_ ? hellos_[i_].burst_ : burst_;
        }
        for (i_ = 1; error_ == 0 && i_ < link_->size_; i_++) {
            error_ = tumit1_sync_send_plan(link_, hellos_, leaders_, count_, i_, burst_);
        }
        tumit1_sync_set_next_burst(burst_);
        error_ = error_ == 0
                     ? tumit1_sync_rounds(link_, hellos_, leaders_, count_, burst_,
                                          hellos_[0].exchanges_)
                     : error_;
    }
    free(leaders_);
    free(hellos_);
    return error_;
}

TUMIT1_SLOW(int tumit1_sync_follow(const struct tumit1_link *link_)) {
    const struct tumit1_hello hello_ = tumit1_sync_own_hello();
    uint64_t plan_[3], peers_of_round_[32][3];
    uint32_t rounds_, round_;
    int error_ = tumit1_sync_send_hello(link_, 0, &hello_);
    error_ = error_ == 0 ? tumit1_link_receive(link_, 0, plan_) : error_;
    if (error_ != 0) {
        return error_;
    }
    rounds_ = (uint32_t)(plan_[0] >> 32);
    if (plan_[2] != TUMIT1_SYNC_PLAN || rounds_ > 32) {
        return EPROTO;
    }
    for (round_ = 0; error_ == 0 && round_ < rounds_; round_++) {
        error_ = tumit1_link_receive(link_, 0, peers_of_round_[round_]);
        error_ = error_ == 0 && peers_of_round_[round_][2] != round_ ? EPROTO : error_;
    }
    tumit1_sync_set_next_burst((uint32_t)plan_[1]);
    for (round_ = 0; error_ == 0 && round_ < rounds_; round_++) {
        const uint32_t peer_ = (uint32_t)peers_of_round_[round_][0];
        if (peer_ != TUMIT1_SYNC_NONE) {
            error_ = tumit1_sync_exchange_with(link_, (uint32_t)plan_[0], round_, peer_,
                                               peers_of_round_[round_][1], (uint32_t)plan_[1],
                                               (uint32_t)(plan_[1] >> 32));
        }
    }
    return error_;
}

/* Records that samples were taken now. The interval to the next ones begins. */
TUMIT1_SLOW(void tumit1_sync_restart_interval(struct tumit1_link *link_)) {
    link_->points_ = 0;
    link_->next_check_ = 1;
    link_->since_ = tumit1_nanos(CLOCK_MONOTONIC);
}

int tumit1_sync(struct tumit1_link *link_) {
    tumit1_sync_restart_interval(link_);
    if (link_->size_ < 2) {
        return 0;
    }
    return link_->me_ == 0 ? tumit1_sync_lead(link_) : tumit1_sync_follow(link_);
}

/* Process 0 reads its clock: it decides whether samples are due, and otherwise at which point to
 * read the clock again. This is after half of the remaining time at the current rate of points,
 * but at most after twice the number of points so far, because the rate may change. */
TUMIT1_SLOW(int tumit1_sync_is_due(struct tumit1_link *link_)) {
    const uint64_t now_ = tumit1_nanos(CLOCK_MONOTONIC), points_ = link_->points_;
    const uint64_t wait_ =
        (uint64_t)tumit1_sync_option("TUMIT_SYNC_SECONDS", TUMIT_SYNC_SECONDS) * 1000000000u;
    uint64_t elapsed_, distance_to_next_;
    link_->since_ = link_->since_ == 0 ? now_ : link_->since_;
    elapsed_ = now_ - link_->since_;
    if (wait_ == 0 || tumit1_sync_exchanges() == 0) {
        link_->next_check_ = UINT64_MAX;
        return 0;
    }
    if (elapsed_ >= wait_) {
        return 1;
    }
    distance_to_next_ = (wait_ - elapsed_) / 2 / (elapsed_ / points_ + 1);
    distance_to_next_ = distance_to_next_ == 0 ? 1 : distance_to_next_;
    link_->next_check_ = points_ + (distance_to_next_ < points_ ? distance_to_next_ : points_);
    return 0;
}

int tumit1_sync_point(struct tumit1_link *link_) {
    uint64_t decision_[3] = {0, 0, 0};
    uint64_t below_ = 1;
    int error_;
    link_->points_++;
    if (link_->size_ < 2 || link_->points_ < link_->next_check_) {
        return 0;
    }
    if (link_->me_ == 0) {
        decision_[0] = (uint64_t)tumit1_sync_is_due(link_);
        decision_[1] = link_->next_check_;
        while (below_ < link_->size_) {
            below_ *= 2;
        }
    } else {
        while ((link_->me_ & below_) == 0) {
            below_ *= 2;
        }
        error_ = tumit1_link_receive(link_, link_->me_ ^ (uint32_t)below_, decision_);
        error_ = error_ == 0 && decision_[2] != TUMIT1_SYNC_POINT ? EPROTO : error_;
        if (error_ != 0) {
            return error_;
        }
        link_->next_check_ = decision_[1];
    }
    for (below_ /= 2; below_ != 0; below_ /= 2) {
        if (link_->me_ + below_ < link_->size_) {
            error_ = tumit1_link_send(link_, link_->me_ + (uint32_t)below_, decision_[0],
                                      decision_[1], TUMIT1_SYNC_POINT);
            if (error_ != 0) {
                return error_;
            }
        }
    }
    return decision_[0] != 0 ? tumit1_sync(link_) : 0;
}
#endif
