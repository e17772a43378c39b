/* ---- MPI: ranks, one run folder for all processes, and samples from which the converter
 * compares clocks ----
 *
 * Write `#define TUMIT_MPI` before this header in the files that call MPI_Init and MPI_Finalize,
 * and in the file that contains the recorder (compiled without TUMIT_EXTERN). In the former, the
 * two calls become functions of the recorder that call MPI's.
 *
 * A program that calls them elsewhere (for example in a library) must call tumit1_mpi_start()
 * after MPI_Init and tumit1_mpi_finish() before MPI_Finalize, in all processes. Calling them
 * twice is harmless.
 *
 * tumit1_mpi_sync() takes further samples, and must be called in all processes. The drift of
 * clocks is best visible in samples that are far apart. tumit1_mpi_sync_point() does the same if
 * the last samples are older than a minute (TUMIT_SYNC_SECONDS) by the clock of rank 0, and
 * returns whether it did. It is a call for an outer loop, in all processes. The options of rank
 * 0 apply to all. */

#ifdef TUMIT_MPI
TUMIT1_END_DECLS
#pragma GCC diagnostic push
#if defined __cplusplus /* the C++ bindings of older MPIs use such casts */
#pragma GCC diagnostic ignored "-Wcast-function-type"
#endif
#include <mpi.h>
#pragma GCC diagnostic pop
TUMIT1_BEGIN_DECLS

extern TUMIT1_SHARED const char
    tumit1_the_file_without_TUMIT_EXTERN_must_be_compiled_with_TUMIT_MPI;
#ifdef TUMIT_EXTERN
__attribute__((__used__)) static const char *const tumit1_needs_mpi =
    &tumit1_the_file_without_TUMIT_EXTERN_must_be_compiled_with_TUMIT_MPI;
TUMIT1_CALL void tumit1_mpi_start(void);
TUMIT1_CALL void tumit1_mpi_sync(void);
TUMIT1_CALL int tumit1_mpi_sync_point(void);
TUMIT1_CALL void tumit1_mpi_finish(void);
#else
const char tumit1_the_file_without_TUMIT_EXTERN_must_be_compiled_with_TUMIT_MPI = 1;

struct tumit1_mpi {
    MPI_Comm comm_;
    int started_;
    int finished_;
    struct tumit1_link link_;
};
extern TUMIT1_WEAK struct tumit1_mpi tumit1_mpi;
struct tumit1_mpi tumit1_mpi;

TUMIT1_SLOW(int tumit1_mpi_send(void *mpi_, uint32_t peer_, const void *message_)) {
    const struct tumit1_mpi *m_ = (const struct tumit1_mpi *)mpi_;
    unsigned char copy_[TUMIT1_MESSAGE]; /* older MPIs accept no constant */
    memcpy(copy_, message_, sizeof copy_);
    return MPI_Send(copy_, TUMIT1_MESSAGE, MPI_BYTE, (int)peer_, 1, m_->comm_) == MPI_SUCCESS ? 0
                                                                                              : EIO;
}
TUMIT1_SLOW(int tumit1_mpi_receive(void *mpi_, uint32_t peer_, void *message_)) {
    const struct tumit1_mpi *m_ = (const struct tumit1_mpi *)mpi_;
    return MPI_Recv(message_, TUMIT1_MESSAGE, MPI_BYTE, (int)peer_, 1, m_->comm_,
                    MPI_STATUS_IGNORE) == MPI_SUCCESS
               ? 0
               : EIO;
}

/* Takes samples between clocks. A collective call: MPI gives each process the clocks of all, so
 * that each computes its peers itself. */
TUMIT1_SLOW(void tumit1_mpi_sync(void)) {
    struct tumit1_mpi *m_ = &tumit1_mpi;
    struct tumit1_hello *hellos_, hello_;
    uint64_t own_words_[3], *words_;
    uint32_t *leaders_;
    uint32_t count_, i_, burst_ = 0;
    if (!m_->started_ || m_->finished_) {
        return;
    }
    tumit1_sync_restart_interval(&m_->link_);
    hello_ = tumit1_sync_own_hello();
    own_words_[0] = hello_.id_;
    own_words_[1] = hello_.domain_;
    own_words_[2] = tumit1_sync_pack_options(&hello_);
    words_ = (uint64_t *)malloc(m_->link_.size_ * sizeof own_words_);
    hellos_ = (struct tumit1_hello *)malloc(m_->link_.size_ * sizeof *hellos_);
    leaders_ = (uint32_t *)malloc(m_->link_.size_ * sizeof *leaders_);
    if (words_ == NULL || hellos_ == NULL || leaders_ == NULL) {
        MPI_Abort(m_->comm_, 1);
        return;
    }
    MPI_Allgather(own_words_, 3, MPI_UINT64_T, words_, 3, MPI_UINT64_T, m_->comm_);
    for (i_ = 0; i_ < m_->link_.size_; i_++) {
        (void)tumit1_sync_parse_hello(words_ + 3 * (size_t)i_, &hellos_[i_]);
        burst_ = hellos_[i_].burst_ > burst_ ? hellos_[i_].burst_ : burst_;
    }
    tumit1_sync_set_next_burst(burst_);
    count_ = tumit1_sync_leaders(hellos_, m_->link_.size_, leaders_);
    (void)tumit1_sync_rounds(&m_->link_, hellos_, leaders_, count_, burst_, hellos_[0].exchanges_);
    free(leaders_);
    free(hellos_);
    free(words_);
}

TUMIT1_SLOW(int tumit1_mpi_sync_point(void)) {
    struct tumit1_mpi *m_ = &tumit1_mpi;
    uint64_t decision_[2] = {0, 0};
    if (!m_->started_ || m_->finished_) {
        return 0;
    }
    m_->link_.points_++;
    if (m_->link_.points_ < m_->link_.next_check_) {
        return 0;
    }
    if (m_->link_.me_ == 0) {
        decision_[0] = (uint64_t)tumit1_sync_is_due(&m_->link_);
        decision_[1] = m_->link_.next_check_;
    }
    MPI_Bcast(decision_, 2, MPI_UINT64_T, 0, m_->comm_);
    m_->link_.next_check_ = decision_[1];
    if (decision_[0] != 0) {
        tumit1_mpi_sync();
    }
    return decision_[0] != 0;
}

/* To be called after MPI_Init, in all processes. */
TUMIT1_SLOW(void tumit1_mpi_start(void)) {
    struct tumit1_mpi *m_ = &tumit1_mpi;
    struct tumit1_session *s_ = &tumit1_session;
    char folder_[PATH_MAX], launch_[sizeof s_->launch_];
    uint32_t busy_;
    int rank_, ranks_;
    if (m_->started_) {
        return;
    }
    m_->started_ = 1;
    MPI_Comm_dup(MPI_COMM_WORLD, &m_->comm_);
    MPI_Comm_rank(m_->comm_, &rank_);
    MPI_Comm_size(m_->comm_, &ranks_);
    m_->link_.send_ = tumit1_mpi_send;
    m_->link_.receive_ = tumit1_mpi_receive;
    m_->link_.user_ = m_;
    m_->link_.me_ = (uint32_t)rank_;
    m_->link_.size_ = (uint32_t)ranks_;
    busy_ = tumit1_lock_state();
    tumit1_name_folder();
    memcpy(folder_, s_->folder_, sizeof folder_);
    memcpy(launch_, s_->launch_, sizeof launch_);
    tumit1_unlock_state(busy_);
    MPI_Bcast(folder_, (int)sizeof folder_, MPI_CHAR, 0, m_->comm_);
    MPI_Bcast(launch_, (int)sizeof launch_, MPI_CHAR, 0, m_->comm_);
    busy_ = tumit1_lock_state();
    if (s_->state_ == TUMIT1_CLOSED) {
        s_->rank_ = rank_;
        s_->ranks_ = ranks_;
        s_->rank_known_ = 1;
        memcpy(s_->folder_, folder_, sizeof folder_);
        if (memcmp(s_->launch_, launch_, sizeof launch_) != 0) {
            memcpy(s_->launch_, launch_, sizeof launch_);
            tumit1_share_launch();
        }
    }
    tumit1_unlock_state(busy_);
    busy_ = tumit1_begin_work();
    (void)tumit1_begin_session();
    tumit1_end_work(busy_);
    tumit1_mpi_sync();
}

/* To be called before MPI_Finalize, in all processes. */
TUMIT1_SLOW(void tumit1_mpi_finish(void)) {
    struct tumit1_mpi *m_ = &tumit1_mpi;
    if (m_->started_ && !m_->finished_) {
        tumit1_mpi_sync();
        m_->finished_ = 1;
        MPI_Comm_free(&m_->comm_);
    }
}

#endif

TUMIT1_UNUSED static int tumit1_mpi_init(int *argc_, char ***argv_) {
    int result_ = MPI_Init(argc_, argv_);
    if (result_ == MPI_SUCCESS) {
        tumit1_mpi_start();
    }
    return result_;
}
TUMIT1_UNUSED static int tumit1_mpi_init_thread(int *argc_, char ***argv_, int required_,
                                                int *provided_) {
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
#define MPI_Init_thread(argc_, argv_, required_, provided_) \
    tumit1_mpi_init_thread(argc_, argv_, required_, provided_)
#define MPI_Finalize() tumit1_mpi_finalize()
#endif

TUMIT1_END_DECLS
