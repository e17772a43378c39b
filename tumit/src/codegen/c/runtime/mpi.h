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
    MPI_Comm comm;
    int started;
    int finished;
    uint32_t burst;
};
extern TUMIT1_WEAK struct tumit1_mpi tumit1_mpi;
struct tumit1_mpi tumit1_mpi;

/* Exchanges with one peer; the initiator keeps all of them. The first, which sets up the connection, is not kept. */
TUMIT1_SLOW void tumit1_mpi_exchange(int peer, int initiator, uint64_t peer_id) {
    struct tumit1_mpi *m = &tumit1_mpi;
    unsigned char block[TUMIT1_HEADER_BYTES + TUMIT_SYNC_EXCHANGES * 48 + 8];
    unsigned char *p = block + TUMIT1_HEADER_BYTES;
    uint64_t ask[3] = {0, 0, 0}, answer[3] = {0, 0, 0}, first = 0, last = 0;
    int i;
    for (i = -1; i < TUMIT_SYNC_EXCHANGES; i++) {
        if (!initiator) {
            MPI_Recv(ask, 3, MPI_UINT64_T, peer, TUMIT1_TAG_ASK, m->comm, MPI_STATUS_IGNORE);
            answer[0] = tumit1_now_slow();
            answer[2] = ask[2];
            answer[1] = tumit1_now_slow();
            MPI_Send(answer, 3, MPI_UINT64_T, peer, TUMIT1_TAG_ANSWER, m->comm);
            continue;
        }
        if (i > 0 && i % TUMIT1_SYNC_GROUP == 0) {
            struct timespec pause = {0, TUMIT1_SYNC_PAUSE_NANOS};
            (void)nanosleep(&pause, NULL);
        }
        ask[2] = (uint64_t)(i + 1);
        ask[0] = tumit1_now_slow();
        MPI_Send(ask, 3, MPI_UINT64_T, peer, TUMIT1_TAG_ASK, m->comm);
        MPI_Recv(answer, 3, MPI_UINT64_T, peer, TUMIT1_TAG_ANSWER, m->comm, MPI_STATUS_IGNORE);
        last = tumit1_now_slow();
        if (i < 0) {
            continue;
        }
        first = i == 0 ? ask[0] : first;
        p = tumit1_put_u32(p, m->burst);
        p = tumit1_put_u32(p, (uint32_t)i);
        p = tumit1_put_u64(p, peer_id);
        p = tumit1_put_u64(p, ask[0]);
        p = tumit1_put_u64(p, answer[0]);
        p = tumit1_put_u64(p, answer[1]);
        p = tumit1_put_u64(p, last);
    }
    if (initiator) {
        uint32_t busy = tumit1_lock_all();
        if (tumit1_session.state == TUMIT1_OPEN) {
            (void)tumit1_append_plain(TUMIT1_KIND_SYNC, TUMIT1_PROCESS_STREAM, TUMIT_SYNC_EXCHANGES, block,
                                      (size_t)(p - (block + TUMIT1_HEADER_BYTES)), first, last);
            tumit1_append_anchor();
        }
        tumit1_unlock(busy);
    }
}

/* Samples between clocks: collective. One leader for each clock domain; in round k leader i meets i XOR 2^k. */
TUMIT1_SLOW void tumit1_mpi_sync(void) {
    struct tumit1_mpi *m = &tumit1_mpi;
    struct tumit1_session *s = &tumit1_session;
    int rank, size, i, j, leaders = 0, me = -1, round;
    uint64_t mine[2];
    uint64_t *all;
    int *leader;
    if (!m->started || m->finished) {
        return;
    }
    MPI_Comm_rank(m->comm, &rank);
    MPI_Comm_size(m->comm, &size);
    memcpy(&mine[0], s->id, sizeof mine[0]);
    mine[1] = (uint64_t)tumit1_hash(tumit1_clock.domain, strlen(tumit1_clock.domain), 0) << 32 |
              tumit1_hash(tumit1_clock.domain, strlen(tumit1_clock.domain), 1);
    all = (uint64_t *)malloc((size_t)size * sizeof mine);
    leader = (int *)malloc((size_t)size * sizeof *leader);
    if (all == NULL || leader == NULL) {
        MPI_Abort(m->comm, 1);
        return;
    }
    MPI_Allgather(mine, 2, MPI_UINT64_T, all, 2, MPI_UINT64_T, m->comm);
    for (i = 0; i < size; i++) {
        for (j = 0; j < leaders && all[2 * leader[j] + 1] != all[2 * i + 1]; j++) {
        }
        if (j == leaders) {
            me = i == rank ? leaders : me;
            leader[leaders++] = i;
        }
    }
    for (round = 1; me >= 0 && round < leaders; round *= 2) {
        int peer = me ^ round;
        if (peer < leaders) {
            tumit1_mpi_exchange(leader[peer], me < peer, all[2 * leader[peer]]);
        }
    }
    m->burst++;
    free(leader);
    free(all);
}

/* After MPI_Init, in all processes. */
TUMIT1_SLOW void tumit1_mpi_start(void) {
    struct tumit1_mpi *m = &tumit1_mpi;
    struct tumit1_session *s = &tumit1_session;
    char folder[PATH_MAX];
    uint32_t busy;
    if (m->started) {
        return;
    }
    m->started = 1;
    MPI_Comm_dup(MPI_COMM_WORLD, &m->comm);
    busy = tumit1_lock_all();
    tumit1_name_folder();
    memcpy(folder, s->folder, sizeof folder);
    tumit1_unlock(busy);
    MPI_Bcast(folder, (int)sizeof folder, MPI_CHAR, 0, m->comm);
    busy = tumit1_lock_all();
    if (s->state == TUMIT1_CLOSED) {
        MPI_Comm_rank(m->comm, &s->rank);
        MPI_Comm_size(m->comm, &s->ranks);
        s->rank_known = 1;
        memcpy(s->folder, folder, sizeof folder);
        tumit1_open();
    }
    tumit1_unlock(busy);
    tumit1_mpi_sync();
}

/* Before MPI_Finalize, in all processes. */
TUMIT1_SLOW void tumit1_mpi_finish(void) {
    struct tumit1_mpi *m = &tumit1_mpi;
    if (m->started && !m->finished) {
        tumit1_mpi_sync();
        m->finished = 1;
        MPI_Comm_free(&m->comm);
    }
}

__attribute__((unused)) static int tumit1_mpi_init(int *argc, char ***argv) {
    int result = MPI_Init(argc, argv);
    if (result == MPI_SUCCESS) {
        tumit1_mpi_start();
    }
    return result;
}
__attribute__((unused)) static int tumit1_mpi_init_thread(int *argc, char ***argv, int required, int *provided) {
    int result = MPI_Init_thread(argc, argv, required, provided);
    if (result == MPI_SUCCESS) {
        tumit1_mpi_start();
    }
    return result;
}
__attribute__((unused)) static int tumit1_mpi_finalize(void) {
    tumit1_mpi_finish();
    return MPI_Finalize();
}
#define MPI_Init(argc, argv) tumit1_mpi_init(argc, argv)
#define MPI_Init_thread(argc, argv, required, provided) tumit1_mpi_init_thread(argc, argv, required, provided)
#define MPI_Finalize() tumit1_mpi_finalize()
#endif

TUMIT1_END_DECLS
