/* ---- MPI: who is who, one run folder for all, and samples from which the converter compares clocks ----
 *
 * `#define TUMIT_MPI` before this header in the file that calls MPI_Init and MPI_Finalize, and nothing else: there the
 * two calls become ours around MPI's. A program that calls them elsewhere (in a library, say) calls tumit1_mpi_start()
 * after MPI_Init and tumit1_mpi_finish() before MPI_Finalize, in all processes; twice does no harm. tumit1_mpi_sync(),
 * in all processes, takes further samples; the drift of clocks shows best when samples are far apart. */

#ifdef TUMIT_MPI
TUMIT1_END_DECLS
#pragma GCC diagnostic push
#if defined __cplusplus /* the C++ bindings of older MPIs cast as they like */
#pragma GCC diagnostic ignored "-Wcast-function-type"
#endif
#include <mpi.h>
#pragma GCC diagnostic pop
TUMIT1_BEGIN_DECLS

/* Exchanges with each peer, in groups with pauses between them. Where ranks outnumber cores, one way can be slow for as
 * long as the scheduler leaves things as they are: only groups apart in time find the fastest exchange of both ways. */
#ifndef TUMIT_SYNC_EXCHANGES
#define TUMIT_SYNC_EXCHANGES 300
#endif
#define TUMIT1_SYNC_GROUP 30
#define TUMIT1_SYNC_PAUSE_NANOS 300000
#define TUMIT1_TAG_ASK 1
#define TUMIT1_TAG_ANSWER 2

struct tumit1_mpi {
    MPI_Comm comm_;
    int started_;
    int finished_;
    uint32_t burst_;
};
extern TUMIT1_WEAK struct tumit1_mpi tumit1_mpi;
struct tumit1_mpi tumit1_mpi;

/* Exchanges with one peer; the initiator keeps all of them. The first, which sets up the connection, is not kept. */
TUMIT1_SLOW(void tumit1_mpi_exchange(int peer_, int initiator_, uint64_t peer_id_)) {
    struct tumit1_mpi *m_ = &tumit1_mpi;
    unsigned char block_[TUMIT1_HEADER_BYTES + TUMIT_SYNC_EXCHANGES * 48 + 8];
    unsigned char *p_ = block_ + TUMIT1_HEADER_BYTES;
    uint64_t ask_[3] = {0, 0, 0}, answer_[3] = {0, 0, 0}, first_ = 0, last_ = 0;
    int i_;
    for (i_ = -1; i_ < TUMIT_SYNC_EXCHANGES; i_++) {
        if (!initiator_) {
            MPI_Recv(ask_, 3, MPI_UINT64_T, peer_, TUMIT1_TAG_ASK, m_->comm_, MPI_STATUS_IGNORE);
            answer_[0] = tumit1_now_slow();
            answer_[2] = ask_[2];
            answer_[1] = tumit1_now_slow();
            MPI_Send(answer_, 3, MPI_UINT64_T, peer_, TUMIT1_TAG_ANSWER, m_->comm_);
            continue;
        }
        if (i_ > 0 && i_ % TUMIT1_SYNC_GROUP == 0) {
            struct timespec pause_ = {0, TUMIT1_SYNC_PAUSE_NANOS};
            (void)nanosleep(&pause_, NULL);
        }
        ask_[2] = (uint64_t)(i_ + 1);
        ask_[0] = tumit1_now_slow();
        MPI_Send(ask_, 3, MPI_UINT64_T, peer_, TUMIT1_TAG_ASK, m_->comm_);
        MPI_Recv(answer_, 3, MPI_UINT64_T, peer_, TUMIT1_TAG_ANSWER, m_->comm_, MPI_STATUS_IGNORE);
        last_ = tumit1_now_slow();
        if (i_ < 0) {
            continue;
        }
        first_ = i_ == 0 ? ask_[0] : first_;
        p_ = tumit1_put_u32(p_, m_->burst_);
        p_ = tumit1_put_u32(p_, (uint32_t)i_);
        p_ = tumit1_put_u64(p_, peer_id_);
        p_ = tumit1_put_u64(p_, ask_[0]);
        p_ = tumit1_put_u64(p_, answer_[0]);
        p_ = tumit1_put_u64(p_, answer_[1]);
        p_ = tumit1_put_u64(p_, last_);
    }
    if (initiator_) {
        uint32_t busy_ = tumit1_busy();
        tumit1_lock_sink();
        if (tumit1_is_open()) {
            (void)tumit1_append_plain(TUMIT1_KIND_SYNC, TUMIT1_PROCESS_STREAM, TUMIT_SYNC_EXCHANGES, block_,
                                      (size_t)(p_ - (block_ + TUMIT1_HEADER_BYTES)), first_, last_);
            tumit1_append_anchor();
        }
        pthread_mutex_unlock(&tumit1_sink_lock);
        tumit1_idle(busy_);
    }
}

/* Samples between clocks: collective. One leader for each clock domain; in round k leader i meets i XOR 2^k. */
TUMIT1_SLOW(void tumit1_mpi_sync(void)) {
    struct tumit1_mpi *m_ = &tumit1_mpi;
    struct tumit1_session *s_ = &tumit1_session;
    int rank_, size_, i_, j_, leaders_ = 0, me_ = -1, round_;
    uint64_t mine_[2];
    uint64_t *all_;
    int *leader_;
    if (!m_->started_ || m_->finished_) {
        return;
    }
    MPI_Comm_rank(m_->comm_, &rank_);
    MPI_Comm_size(m_->comm_, &size_);
    memcpy(&mine_[0], s_->id_, sizeof mine_[0]);
    mine_[1] = (uint64_t)tumit1_hash(tumit1_clock.domain_, strlen(tumit1_clock.domain_), 0) << 32 |
              tumit1_hash(tumit1_clock.domain_, strlen(tumit1_clock.domain_), 1);
    all_ = (uint64_t *)malloc((size_t)size_ * sizeof mine_);
    leader_ = (int *)malloc((size_t)size_ * sizeof *leader_);
    if (all_ == NULL || leader_ == NULL) {
        MPI_Abort(m_->comm_, 1);
        return;
    }
    MPI_Allgather(mine_, 2, MPI_UINT64_T, all_, 2, MPI_UINT64_T, m_->comm_);
    for (i_ = 0; i_ < size_; i_++) {
        for (j_ = 0; j_ < leaders_ && all_[2 * leader_[j_] + 1] != all_[2 * i_ + 1]; j_++) {
        }
        if (j_ == leaders_) {
            me_ = i_ == rank_ ? leaders_ : me_;
            leader_[leaders_++] = i_;
        }
    }
    for (round_ = 1; me_ >= 0 && round_ < leaders_; round_ *= 2) {
        int peer_ = me_ ^ round_;
        if (peer_ < leaders_) {
            tumit1_mpi_exchange(leader_[peer_], me_ < peer_, all_[2 * leader_[peer_]]);
        }
    }
    m_->burst_++;
    free(leader_);
    free(all_);
}

/* After MPI_Init, in all processes. */
TUMIT1_SLOW(void tumit1_mpi_start(void)) {
    struct tumit1_mpi *m_ = &tumit1_mpi;
    struct tumit1_session *s_ = &tumit1_session;
    char folder_[PATH_MAX];
    uint32_t busy_;
    if (m_->started_) {
        return;
    }
    m_->started_ = 1;
    MPI_Comm_dup(MPI_COMM_WORLD, &m_->comm_);
    busy_ = tumit1_lock_all();
    tumit1_name_folder();
    memcpy(folder_, s_->folder_, sizeof folder_);
    tumit1_unlock(busy_);
    MPI_Bcast(folder_, (int)sizeof folder_, MPI_CHAR, 0, m_->comm_);
    busy_ = tumit1_lock_all();
    if (s_->state_ == TUMIT1_CLOSED) {
        MPI_Comm_rank(m_->comm_, &s_->rank_);
        MPI_Comm_size(m_->comm_, &s_->ranks_);
        s_->rank_known_ = 1;
        memcpy(s_->folder_, folder_, sizeof folder_);
    }
    tumit1_unlock(busy_);
    busy_ = tumit1_busy();
    (void)tumit1_begin_session();
    tumit1_idle(busy_);
    tumit1_mpi_sync();
}

/* Before MPI_Finalize, in all processes. */
TUMIT1_SLOW(void tumit1_mpi_finish(void)) {
    struct tumit1_mpi *m_ = &tumit1_mpi;
    if (m_->started_ && !m_->finished_) {
        tumit1_mpi_sync();
        m_->finished_ = 1;
        MPI_Comm_free(&m_->comm_);
    }
}

TUMIT1_UNUSED static int tumit1_mpi_init(int *argc_, char ***argv_) {
    int result_ = MPI_Init(argc_, argv_);
    if (result_ == MPI_SUCCESS) {
        tumit1_mpi_start();
    }
    return result_;
}
TUMIT1_UNUSED static int tumit1_mpi_init_thread(int *argc_, char ***argv_, int required_, int *provided_) {
    int result_ = MPI_Init_thread(argc_, argv_, required_, provided_);
    if (result_ == MPI_SUCCESS) {
        tumit1_mpi_start();
    }
    return result_;
}
TUMIT1_UNUSED static int tumit1_mpi_finalize(void) {
    tumit1_mpi_finish();
    return MPI_Finalize();
}
#define MPI_Init(argc_, argv_) tumit1_mpi_init(argc_, argv_)
#define MPI_Init_thread(argc_, argv_, required_, provided_) tumit1_mpi_init_thread(argc_, argv_, required_, provided_)
#define MPI_Finalize() tumit1_mpi_finalize()
#endif

TUMIT1_END_DECLS
