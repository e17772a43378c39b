/* ---- The state of the recorder ---- */

TUMIT1_END_DECLS
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>
TUMIT1_BEGIN_DECLS

#define TUMIT1_BLOCK 65536u       /* no payload is longer: positions in it fit 16 bits */
#define TUMIT1_MEMORY 16777216u   /* of all slots, unless TUMIT_MEMORY says otherwise */
#define TUMIT1_LEAST_MEMORY 1048576u /* as little where the system gives no more */
#define TUMIT1_MAX_RECORD (TUMIT1_ROOM - TUMIT1_LOST_BYTES)
#define TUMIT1_MAX_PART_RECORD (TUMIT1_ROOM_OF(TUMIT1_PART) - TUMIT1_LOST_BYTES)
#define TUMIT1_PIECES (TUMIT1_SLOT / TUMIT1_PART) /* of a divided slot, the first of which is not used */
#define TUMIT1_MAX_NAMES 65536u   /* strings, and as many source positions */
#define TUMIT1_MAX_TEXT 4096u     /* bytes of an interned string; the rest is cut */
#define TUMIT1_RECENT 64u         /* strings whose ids a thread remembers */
#define TUMIT1_LOST_BYTES 42u     /* a `lost` record */
#define TUMIT1_LZ4_BITS 12        /* of its hash */
#define TUMIT1_NO_SHAPE 0xFFFFu   /* in place of a layout's position: records of this type are not packed by columns */
#define TUMIT1_LOG_LEAST 65536u   /* bytes of a live file's log of names, besides what is known at the start */
#define TUMIT1_LOG_MOST 1048576u
#define TUMIT1_CHUNK 16u          /* slots for which the live file gets room at a time */
#define TUMIT1_RESERVE 16384u     /* bytes of the disk, and below a limit of the file's size, that are kept for the end, which tells of losses */
#define TUMIT1_LAST_RESERVE 512u  /* of these, for the end block */
#define TUMIT1_KEEP_SIZE 1        /* FALLOC_FL_KEEP_SIZE */
#define TUMIT1_TAGS_ROOM 12288u   /* bytes for the tagged fields of a process */
#define TUMIT1_WARM 4u            /* slots kept ready, so that no recording thread meets a page fault */
#define TUMIT1_SLEEP_CALL 128 /* of the system: FUTEX_WAIT, and private to the process */
#define TUMIT1_WIPE_ON_FORK 18 /* MADV_WIPEONFORK, which older headers lack */
#define TUMIT1_PATIENCE 10u       /* seconds that a thread waits for a slot, where its level says so */

/* A level in the form of the generated code. */
struct tumit1_level {
    const char *name_;
    uint32_t *word_;
    int enabled_; /* as the spec says */
};

/* A spec in the form of the generated code. */
struct tumit1_spec {
    const char *name_;
    const unsigned char *schema_; /* the payload of its block, packed; at `base_at_` the first record id goes */
    uint32_t schema_bytes_;
    uint32_t schema_raw_;
    uint32_t base_at_;
    uint32_t ids_;
    const struct tumit1_level *levels_;
    uint32_t levels_count_;
    const uint16_t *runs_; /* pairs: a record, and the level from it on */
    uint32_t runs_count_;
    const unsigned char *shapes_; /* layouts of records: how many parts (u16), and their codes, as blocks by columns have them */
    uint32_t shapes_bytes_;
    const uint16_t *shapes_at_;   /* of each record, where its layout is */
    uint32_t registered_;
};

/* The policy of a level when no slot is free. */
enum {
    TUMIT1_POLICY_DROP = 0, /* the newest records are dropped */
    TUMIT1_POLICY_BLOCK,    /* threads wait */
    TUMIT1_POLICY_OVERWRITE /* the oldest are overwritten */
};

/* A registered spec. It is a copy, so that a library can be unloaded. Only `levels_` points into
 * the library. */
struct tumit1_provider {
    struct tumit1_provider *next_;
    unsigned char *schema_;
    unsigned char *on_;      /* of each level: whether it is on, but for a pause */
    unsigned char *policies_; /* of each level: what becomes of records that find no room */
    uint16_t *runs_;
    uint32_t runs_count_;
    unsigned char *shapes_;
    uint16_t *shapes_at_;
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

/* Dropped records of a stream that are not yet reported in a block. Atomic, because signal
 * handlers and threads without a slot add to it. */
struct tumit1_lost {
    uint64_t count_, bytes_, first_, last_;
    uint32_t cause_;
};

/* The stream of a thread. The recorder's lock protects it, except for the losses, and for
 * `recent_`, which only the thread itself uses. */
#define TUMIT1_STREAM_BYTES 160 /* of the tagged fields of a stream: three numbers, name and label */
struct tumit1_thread {
    struct tumit1_thread *next_;
    struct tumit1_cursor *cursor_; /* NULL when the thread has ended */
    struct tumit1_slot *slot_;     /* the one it writes, or NULL */
    uint64_t sequence_;            /* of the first block that will be made of its next slot */
    uint64_t failed_;              /* blocks that were given up: under the sink's lock */
    struct tumit1_slot *planned_slot_; /* one of which a part is being written, or could not be */
    uint64_t planned_;             /* what of it is in the file then, as its `flushed_` */
    uint64_t planned_last_;        /* date of the last record of that part */
    uint64_t last_;                /* date of its last record */
    uint64_t end_;                 /* when the thread ended; 0 while it runs */
    uint64_t dropped_;             /* records, in all, overwritten ones too */
    struct tumit1_lost lost_;
    struct tumit1_lost over_;      /* what was overwritten */
    uint64_t over_end_;            /* number of the first block behind it */
    uint64_t appended_;            /* number behind that of the last block in the file: under the sink's lock */
    uint64_t tid_;
    uint32_t stream_;
    uint32_t queued_;              /* slots that wait to be written, or are being written */
    uint32_t kept_;                /* full slots that are kept until they are asked for, or overwritten */
    int overwrites_;               /* it is the stream of levels that overwrite */
    int fed_;                      /* it had a slot already */
    int described_;                /* its id and name are in the file */
    char name_[48], label_[48];
    uint32_t recent_[TUMIT1_RECENT]; /* ids of strings, by hash */
};

struct tumit1_name {
    const char *text_;
    uint32_t length_;
    uint32_t hash_;
    uint32_t line_; /* of a source position */
};

/* A table of names. Ids start at 1. */
struct tumit1_names {
    struct tumit1_name *entries_;
    uint32_t *slots_; /* open addressing; 0 is free */
    uint32_t count_;
    uint32_t written_; /* they are in the file: under the sink's lock */
    uint32_t logged_;  /* they are in the live file: under the lock */
};

enum { TUMIT1_CLOSED = 0, TUMIT1_OPEN = 1, TUMIT1_FAILED = 2, TUMIT1_ENDED = 3 };

/* The identity of a file in the system. A program that closes files which it did not open may
 * reuse our file descriptor for its own file. */
struct tumit1_identity {
    uint64_t device_, inode_;
    uint64_t bytes_; /* that it has at least: the system gives the number of a removed file to the next one */
};

/* The slots. They are mapped once and never unmapped, so that pointers to them stay valid. */
struct tumit1_pool {
    unsigned char *map_;     /* room for the front of a live file, then the slots */
    struct tumit1_slot **free_; /* a stack: the last one given back is the warmest in the caches */
    struct tumit1_slot **parts_; /* another one: free parts of slots that are divided */
    unsigned char *taken_parts_; /* how many of each slot are taken */
    struct tumit1_slot **queue_; /* a ring: to be written, oldest first */
    size_t front_;           /* bytes before the first slot */
    uint32_t slots_;         /* that there are, or can be */
    uint32_t room_;          /* slots for which there are addresses */
    uint32_t places_;        /* parts there can be: so long are the lists */
    uint32_t ready_;         /* slots before this one have room on the disk */
    uint32_t fresh_;         /* slots from here on were never touched */
    uint32_t free_count_, parts_count_;
    uint32_t queue_first_, queue_count_;
    struct tumit1_slot **ring_;  /* another one: full slots of streams that overwrite */
    uint32_t ring_first_, ring_count_;
    uint64_t ring_bytes_;
    struct tumit1_slot *on_its_way_; /* a part of it is just being written */
    uint32_t available_;     /* slots that can be taken; read without the lock, as a hint */
    uint32_t available_parts_; /* parts, too */
    int refilled_;           /* slots were given back: threads fill them */
    int named_;              /* while the live file is made: it has another name (1), or its own (2) */
    int file_;               /* the live file */
    struct tumit1_identity who_;
    int live_;               /* the slots are in the live file */
    uint32_t kept_;          /* where they are, as the process block says */
    int log_full_;           /* its log of names takes no more */
};

/* The values of the clocks from one combined reading. */
struct tumit1_reading {
    uint64_t ticks_;
    uint64_t monotonic_;
    uint64_t real_;
    uint64_t bracket_;       /* ticks that the reading took */
};

/* The file, and the state of its contents. tumit1_sink_lock protects it. */
struct tumit1_sink {
    int file_;
    struct tumit1_identity who_;
    int ending_;             /* nothing but the end is still to be written: names and losses (1), the end block (2) */
    int reserves_;           /* room on the disk is kept for that, behind the end of the file */
    uint64_t reserved_;      /* up to here */
    int left_behind_;        /* something could not be written that the live file still has */
    int kept_;               /* so it was at the end: there is no end block, and the live file stays */
    uint64_t offset_;        /* end of the last whole block */
    uint64_t sequence_;
    uint64_t written_;       /* records */
    uint64_t latest_;        /* timestamp of the latest record that was written */
    uint64_t blocks_;        /* of records */
    struct tumit1_reading read_; /* the clocks, when they were read last, */
    int unread_;             /* which the file does not have */
    double rate_;            /* ticks in a nanosecond of the system's clock, between the last two readings; 0: not known */
    uint32_t jumps_;         /* so often it differed from that */
    unsigned char *block_;   /* where a block is put together */
    unsigned char *copy_;    /* a payload whose first delta must change */
    struct tumit1_packer *packer_; /* NULL where there is no helper */
    uint16_t table_[1u << TUMIT1_LZ4_BITS];
};

/* A requested switch, from the program or from `tumit level`. It also applies to specs that are
 * registered later. */
struct tumit1_asked {
    struct tumit1_asked *next_;
    char *name_;
    int on_;
};

#define TUMIT1_LATER_LEVELS 8 /* so many names of levels that signal handlers switched can wait */

struct tumit1_session {
    int state_;
    int hooks_;              /* the fork handlers are installed */
    int keyed_;              /* `key_` is there: its destructor retires threads that end */
    int warned_;
    int paused_;
    int helper_;             /* there is one, in `helper_id_` */
    int stop_;               /* it shall end */
    int join_;               /* it was told so, and nobody has waited for it */
    int tells_;              /* the run folder has the default name: who started the program is told it at the end */
    int inherits_;           /* the launch id is that of the process which started this one */
    int main_gone_;          /* the first thread has ended */
    uint32_t may_wait_;      /* some level's threads wait for room */
    uint32_t wanted_;        /* a thread waits: for tests */
    uint32_t stuck_;         /* one waited in vain: no other does until a slot is free again */
    uint32_t wake_;          /* what the helper sleeps on */
    uint32_t sleeps_;
    uint32_t waiting_;       /* threads that wait for the sink */
    pthread_t helper_id_;
    pthread_key_t key_;
    uint64_t dropped_;       /* records of ended threads, and those that no stream could be charged with */
    struct { /* for who opens the files and writes names, under the sink's lock: threads that record may have small stacks */
        char part_[PATH_MAX], folder_[PATH_MAX], path_[PATH_MAX + 168], text_[4096];
        unsigned char tags_[TUMIT1_TAGS_ROOM], names_[TUMIT1_HEADER_BYTES + 4 * TUMIT1_MAX_TEXT + 64];
        unsigned char packed_[TUMIT1_HEADER_BYTES + 4 * TUMIT1_MAX_TEXT + 64];
    } scratch_;
    char began_in_[PATH_MAX];  /* where the program was when it began */
    char live_from_[PATH_MAX]; /* TUMIT_LIVE, from there */
    int leaving_;              /* the program's own destructors are through */
    uint32_t later_;           /* what signal handlers asked for and could not do, */
    uint64_t later_turn_;      /* and the levels that they switched: so many so far */
    struct {
        uint64_t turn_;
        uint32_t phase_; /* 0 free, 1 somebody works at it, 2 it waits */
        int on_;
        char name_[64];
    } later_levels_[TUMIT1_LATER_LEVELS];
    uint64_t truncated_;       /* records that were too long */
    uint64_t repeated_;        /* records that have the date of the one before, as the clock went back */
    struct tumit1_lost early_; /* of these: records of signal handlers for which recording could not begin */
    uint32_t streams_;
    uint32_t alive_;         /* streams of threads that have not ended */
    uint32_t next_base_;
    int rank_;               /* -1 when unknown */
    int ranks_;
    int rank_known_;
    int has_parent_;
    uint32_t *guard_;        /* 0 in a child that no fork handler was told of: `_Fork`, or the bare system call */
    long mask_bytes_;        /* of `mask_`: the processors on which the process began; the helper is on none of a pinned thread */
    unsigned long mask_[1024 / sizeof(unsigned long)];
    char host_[64];
    char launch_[257];       /* the launch id; empty before the process knows it */
    unsigned char id_[16];
    unsigned char parent_[16];
    char folder_[PATH_MAX];
    char path_[PATH_MAX + 160];
    const char *live_folder_; /* where the live file shall be; NULL: near the file */
    char live_path_[PATH_MAX + 160];
    struct tumit1_config config_; /* what the program chose */
    struct tumit1_asked *asked_;  /* the last one first */
    struct tumit1_pool pool_;
    struct tumit1_provider *providers_;
    struct tumit1_thread *live_;  /* streams that may still have something to tell */
    struct tumit1_thread *spare_;
    struct tumit1_names strings_;
    struct tumit1_names sites_;
    unsigned char *arena_;   /* small things that live until the end */
    size_t arena_left_;
};

struct tumit1_clock {
    uint64_t (*user_)(void);
    int inline_; /* it is TUMIT_CLOCK(), which recording functions read themselves */
    uint64_t hz_;
    uint64_t latest_; /* of a user's clock that has shown 32 bits only: its latest date, as if it had 64 */
    int wide_;        /* a user's clock has shown more than 32 bits */
    char domain_[160];
};

extern TUMIT1_WEAK struct tumit1_session tumit1_session;
extern TUMIT1_WEAK struct tumit1_sink tumit1_sink;
extern TUMIT1_WEAK struct tumit1_clock tumit1_clock;
extern TUMIT1_WEAK pthread_mutex_t tumit1_lock;
extern TUMIT1_WEAK pthread_mutex_t tumit1_sink_lock;
extern TUMIT1_WEAK uint32_t tumit1_crc_tables[8][256];

struct tumit1_slot tumit1_full = {TUMIT1_SLOT, 0, 0, 0, 0, 0, 0, 0, 0};
__thread struct tumit1_cursor tumit1_cursor = {&tumit1_full, &tumit1_full, 0, 0, 0, 0, 0, 0, 0, 0, NULL, &tumit1_full, NULL, {0}, {0}, 0, 0, 0, 0};
struct tumit1_session tumit1_session;
struct tumit1_sink tumit1_sink;
struct tumit1_clock tumit1_clock;
uint32_t tumit1_clock_kind;
uint64_t tumit1_tasks;
pthread_mutex_t tumit1_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t tumit1_sink_lock = PTHREAD_MUTEX_INITIALIZER;
uint32_t tumit1_crc_tables[8][256];

TUMIT1_CALL void tumit1_settle_child(void);
TUMIT1_CALL void tumit1_find_child(void);
TUMIT1_CALL void tumit1_detach(struct tumit1_thread *t_, uint64_t now_);
TUMIT1_CALL void tumit1_apply_levels(void);
TUMIT1_CALL void tumit1_tell_early(void);
TUMIT1_CALL void tumit1_own_ask(const char *name_, size_t length_, int on_);
TUMIT1_CALL void tumit1_own_look(void);
TUMIT1_CALL int tumit1_own_waited(int why_);
TUMIT1_CALL void tumit1_own_tell_wait(void);
TUMIT1_CALL int tumit1_own_begin_write(void);
TUMIT1_CALL void tumit1_own_end_write(void);
TUMIT1_CALL void tumit1_own_leave(void);

/* The reason why a thread waited, with the numbers of the spec of self-tracing. */
enum { TUMIT1_WAITED_ROOM = 0, TUMIT1_WAITED_CALL = 1 };

/* There are two locks. The sink's lock protects the file, and is held while blocks are
 * compressed and written. The other lock protects all other state, and is never held for long.
 * Code that needs both takes the sink's lock first. */

/* Blocks or unblocks the signal with which the C library cancels threads asynchronously. Such a
 * signal can be pending from before cancellation was disabled, and glibc's handler (2.36) does
 * not check again. The thread would then end while it holds a lock. sigprocmask() cannot block
 * this signal. */
#if defined __GLIBC__ && defined SYS_rt_sigprocmask
TUMIT1_HOT void tumit1_hold_cancel(int how_) {
    const uint64_t cancel_ = (uint64_t)1 << 31; /* SIGCANCEL, the first that is kept from programs */
    (void)syscall(SYS_rt_sigprocmask, how_, &cancel_, NULL, sizeof cancel_);
}
#else
#define tumit1_hold_cancel(how_) ((void)(how_))
#endif

/* The state of a thread before tumit1_busy(). */
#define TUMIT1_WAS_BUSY 1u
#define TUMIT1_WAS_LOCKED 2u
#define TUMIT1_WAS_CANCELLABLE 4u
#define TUMIT1_WAS_ASYNCHRONOUS 8u

/* Must precede the locks in calls that are not records. A record in a signal handler then sees
 * `busy_`, and does not wait for a lock that its own thread holds. The thread cannot be
 * cancelled either. Returns the argument for tumit1_idle(). */
TUMIT1_SLOW(uint32_t tumit1_busy(void)) {
    struct tumit1_cursor *c_ = &tumit1_cursor;
    uint32_t before_ = (c_->busy_ != 0) * TUMIT1_WAS_BUSY | c_->locked_ * TUMIT1_WAS_LOCKED;
    const uint32_t *guard_ = tumit1_session.guard_;
    int cancel_ = 0, type_ = PTHREAD_CANCEL_DEFERRED;
    if (!c_->locked_) {
        c_->errno_ = errno;
        if (guard_ != NULL && __atomic_load_n(guard_, __ATOMIC_RELAXED) == 0) {
            tumit1_find_child();
        }
    }
    __atomic_store_n(&c_->busy_, TUMIT1_BUSY, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    c_->locked_ = 1;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_);
    if (cancel_ != PTHREAD_CANCEL_DISABLE) {
        pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type_);
        before_ |= TUMIT1_WAS_CANCELLABLE;
    }
    if (type_ == PTHREAD_CANCEL_ASYNCHRONOUS) {
        tumit1_hold_cancel(SIG_BLOCK);
        before_ |= TUMIT1_WAS_ASYNCHRONOUS;
    }
    return before_;
}
TUMIT1_SLOW(void tumit1_idle(uint32_t before_)) {
    struct tumit1_cursor *c_ = &tumit1_cursor;
    const int outermost_ = (before_ & TUMIT1_WAS_LOCKED) == 0;
    if (c_->forked_ && outermost_) {
        tumit1_settle_child();
    }
    c_->locked_ = before_ / TUMIT1_WAS_LOCKED & 1u;
    __atomic_store_n(&c_->busy_, (before_ & TUMIT1_WAS_BUSY) != 0 ? TUMIT1_BUSY : 0u, __ATOMIC_RELEASE);
    if ((before_ & TUMIT1_WAS_ASYNCHRONOUS) != 0) {
        pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
        tumit1_hold_cancel(SIG_UNBLOCK);
    }
    if (outermost_) {
        errno = c_->errno_;
    }
    if ((before_ & TUMIT1_WAS_CANCELLABLE) != 0) {
        pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL); /* may not return */
    }
}

/* Takes the lock of all state except the file, in calls that are not records. Returns the
 * argument for tumit1_unlock(). */
TUMIT1_SLOW(uint32_t tumit1_lock_all(void)) {
    uint32_t before_ = tumit1_busy();
    pthread_mutex_lock(&tumit1_lock);
    return before_;
}
TUMIT1_SLOW(void tumit1_unlock(uint32_t before_)) {
    pthread_mutex_unlock(&tumit1_lock);
    tumit1_idle(before_);
}

/* Takes the sink's lock, after tumit1_busy(). The writer thread gives precedence to threads that
 * wait for it. */
TUMIT1_SLOW(void tumit1_lock_sink(void)) {
    __atomic_fetch_add(&tumit1_session.waiting_, 1u, __ATOMIC_RELAXED);
    pthread_mutex_lock(&tumit1_sink_lock);
    __atomic_fetch_sub(&tumit1_session.waiting_, 1u, __ATOMIC_RELAXED);
}

TUMIT1_SLOW(int tumit1_is_open(void)) {
    return __atomic_load_n(&tumit1_session.state_, __ATOMIC_ACQUIRE) == TUMIT1_OPEN;
}

/* Anonymous memory from the system, because the recorder may be called from inside an allocator.
 * NULL when there is none. */
TUMIT1_SLOW(void *tumit1_map(size_t bytes_)) {
    void *memory_ = mmap(NULL, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory_ == MAP_FAILED ? NULL : memory_;
}

/* Replaces the mapping at `at_` by private memory. Returns 0 or an errno. */
TUMIT1_SLOW(int tumit1_map_private(void *at_, size_t bytes_)) {
    return mmap(at_, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED
               ? errno
               : 0;
}

/* A copy in a small piece of memory that is never freed. The caller holds the lock. */
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

/* Reports a text that cannot be parsed, with a hint. `bytes_` limits the printed text. -1 prints
 * all of it. */
TUMIT1_SLOW(void tumit1_misread(const char *where_, const char *text_, int bytes_, const char *hint_)) {
    fprintf(stderr, "tumit: %s: `%.*s` is not understood: write %s\n", where_, bytes_, text_, hint_);
}

/* Reports once per process why a trace is incomplete. */
TUMIT1_SLOW(void tumit1_warn(const char *what_, const char *path_, int error_)) {
    if (!tumit1_session.warned_) {
        tumit1_session.warned_ = 1;
        fprintf(stderr, "tumit: %s %s: %s; the program goes on, and what cannot be kept is counted\n", what_, path_, strerror(error_));
    }
}
