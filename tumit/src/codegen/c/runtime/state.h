/* ---- What the recorder knows ---- */

TUMIT1_END_DECLS
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>
TUMIT1_BEGIN_DECLS

#define TUMIT1_BLOCK 65536u       /* payload bytes of a block; positions in it fit 16 bits */
#define TUMIT1_SMALL_BLOCK 8192u  /* of threads beyond the first TUMIT1_MANY_THREADS */
#define TUMIT1_MANY_THREADS 128u
#define TUMIT1_MAX_THREADS 1024u  /* at once: later ones drop and count */
#define TUMIT1_MAX_NAMES 65536u   /* strings, and as many source positions */
#define TUMIT1_MAX_TEXT 4096u     /* bytes of an interned string; the rest is cut */
#define TUMIT1_RECENT 64u         /* strings whose ids a thread remembers */
#define TUMIT1_WIDE_BYTES 14u     /* a wide date: id, delta, date */
#define TUMIT1_LOST_BYTES 42u     /* a `lost` record */
#define TUMIT1_COUNTED 0x80000000u /* in a shape: its size varies */
#define TUMIT1_LZ4_BITS 12        /* of its hash */

/* A level as the generated code declares it. */
struct tumit1_level {
    const char *name_;
    uint32_t *word_;
    int enabled_; /* as the spec says */
};

/* A spec as the generated code declares it. `shapes_` holds for each record its bytes without id and date; or, for one with
 * counted fields, TUMIT1_COUNTED and where its words begin in `counted_`: bytes before the first counted field, then pairs
 * (element bytes, bytes up to the next counted field), then 0. */
struct tumit1_spec {
    const char *name_;
    const unsigned char *schema_; /* the payload of its block, packed; at `base_at_` the first record id goes */
    uint32_t schema_bytes_;
    uint32_t schema_raw_;
    uint32_t base_at_;
    uint32_t ids_;
    const uint32_t *shapes_;
    const uint32_t *counted_;
    uint32_t counted_count_;
    const struct tumit1_level *levels_;
    uint32_t levels_count_;
    uint32_t registered_;
};

/* A registered spec. All is copied, so that a library can be unloaded; only `levels_` is the library's. */
struct tumit1_provider {
    struct tumit1_provider *next_;
    unsigned char *schema_;
    uint32_t *shapes_;
    uint32_t *counted_;
    const struct tumit1_level *levels_;
    const void *home_;
    char *name_;
    uint32_t levels_count_;
    uint32_t schema_bytes_;
    uint32_t schema_raw_;
    uint32_t base_;
    uint32_t ids_;
    int again_; /* another shared object's copy of a spec that is known already: its ids are those */
    int written_;
};

struct tumit1_lost {
    uint64_t count_, bytes_, first_, last_;
    uint32_t cause_;
};

/* The buffer of one thread. Its owner writes records between `start_` and the cursor's `at_` without a lock; all else
 * here is guarded by the recorder's lock. `room_` is 64 bytes for a block header and then `size_` bytes. */
struct tumit1_thread {
    struct tumit1_thread *next_;
    struct tumit1_cursor *cursor_;
    unsigned char *start_;
    unsigned char *done_;    /* sealed up to here */
    unsigned char *packed_;  /* as long as the block: where it is compressed */
    uint64_t ticks_;         /* date of the record before `done_` */
    uint64_t sequence_;
    uint64_t dropped_;
    struct tumit1_lost lost_;
    uint32_t size_;
    uint32_t stream_;
    int sealing_;            /* its owner compresses outside the lock */
    int described_;
    char name_[48];
    uint64_t tid_;
    uint32_t recent_[TUMIT1_RECENT]; /* ids of strings, by hash: the owner's alone */
    uint16_t table_[1u << TUMIT1_LZ4_BITS];
};

struct tumit1_name {
    const char *text_;
    uint32_t length_;
    uint32_t hash_;
    uint32_t line_; /* of a source position */
};

/* A table of names, ids from 1. */
struct tumit1_names {
    struct tumit1_name *entries_;
    uint32_t *slots_; /* open addressing; 0 is free */
    uint32_t count_;
    uint32_t written_;
};

enum { TUMIT1_CLOSED = 0, TUMIT1_OPEN = 1, TUMIT1_FAILED = 2, TUMIT1_ENDED = 3 };

struct tumit1_session {
    int state_;
    int file_;
    int hooks_;              /* the fork handlers are installed */
    int keyed_;              /* `key_` is there: its destructor retires the buffers of threads that end */
    int warned_;
    pthread_key_t key_;
    uint64_t offset_;        /* end of the last whole block in the file */
    uint64_t sequence_;
    uint64_t written_;       /* records */
    uint64_t dropped_;       /* records of ended threads, and those that had no buffer */
    uint64_t anchored_;      /* MONOTONIC ns of the last anchor */
    uint32_t streams_;
    uint32_t threads_;       /* now alive */
    uint32_t next_base_;
    int rank_;               /* -1 when unknown */
    int ranks_;
    int rank_known_;
    int has_parent_;
    unsigned char id_[16];
    unsigned char parent_[16];
    char folder_[PATH_MAX];
    char path_[PATH_MAX + 160];
    struct tumit1_provider *providers_;
    struct tumit1_thread *live_;
    struct tumit1_thread *spare_;
    struct tumit1_names strings_;
    struct tumit1_names sites_;
    unsigned char *arena_;   /* small things that live until the end */
    size_t arena_left_;
};

struct tumit1_clock {
    uint64_t (*user_)(void);
    uint64_t hz_;
    char domain_[160];
};

extern TUMIT1_WEAK struct tumit1_session tumit1_session;
extern TUMIT1_WEAK struct tumit1_clock tumit1_clock;
extern TUMIT1_WEAK pthread_mutex_t tumit1_lock;
extern TUMIT1_WEAK uint32_t tumit1_crc_tables[8][256];

__thread struct tumit1_cursor tumit1_cursor;
struct tumit1_session tumit1_session;
struct tumit1_clock tumit1_clock;
uint32_t tumit1_clock_kind;
uint64_t tumit1_tasks;
pthread_mutex_t tumit1_lock = PTHREAD_MUTEX_INITIALIZER;
uint32_t tumit1_crc_tables[8][256];

/* The lock, for calls that are not records. A record that a signal handler tries meanwhile sees `busy_` and does not wait
 * for the lock that its own thread holds. Returns what tumit1_unlock() needs. */
TUMIT1_SLOW(uint32_t tumit1_lock_all(void)) {
    uint32_t busy_ = tumit1_cursor.busy_;
    tumit1_cursor.busy_ = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    pthread_mutex_lock(&tumit1_lock);
    return busy_;
}
TUMIT1_SLOW(void tumit1_unlock(uint32_t busy_)) {
    pthread_mutex_unlock(&tumit1_lock);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    tumit1_cursor.busy_ = busy_;
}

/* Anonymous memory from the system: the recorder may be called from inside an allocator. NULL when there is none. */
TUMIT1_SLOW(void *tumit1_map(size_t bytes_)) {
    void *memory_ = mmap(NULL, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory_ == MAP_FAILED ? NULL : memory_;
}

/* A small piece that is never given back. Under the lock. */
TUMIT1_SLOW(void *tumit1_keep(const void *from_, size_t bytes_)) {
    struct tumit1_session *s_ = &tumit1_session;
    size_t need_ = (bytes_ + 15u) & ~(size_t)15u;
    void *to_;
    if (need_ > s_->arena_left_) {
        size_t chunk_ = need_ > 65536u ? need_ : 65536u;
        unsigned char *memory_ = (unsigned char *)tumit1_map(chunk_);
        if (memory_ == NULL) {
            return NULL;
        }
        s_->arena_ = memory_;
        s_->arena_left_ = chunk_;
    }
    to_ = s_->arena_;
    s_->arena_ += need_;
    s_->arena_left_ -= need_;
    if (from_ != NULL && bytes_ != 0) {
        memcpy(to_, from_, bytes_);
    }
    return to_;
}

/* Says once per process why a trace is incomplete. */
TUMIT1_SLOW(void tumit1_warn(const char *what_, const char *path_, int error_)) {
    if (!tumit1_session.warned_) {
        tumit1_session.warned_ = 1;
        fprintf(stderr, "tumit: %s %s: %s; records will be missing\n", what_, path_, strerror(error_));
    }
}
