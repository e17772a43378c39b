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

#define TUMIT1_BLOCK 65536u       /* maximum length of a payload; positions in it fit 16 bits */
#define TUMIT1_MEMORY 16777216u   /* bytes of all slots [TUMIT_MEMORY] */
#define TUMIT1_MIN_MEMORY 1048576u /* minimum, if the system gives no more */
#define TUMIT1_MAX_RECORD (TUMIT1_ROOM - TUMIT1_DROP_REPORT_BYTES)
#define TUMIT1_MAX_PART_RECORD (TUMIT1_ROOM_OF(TUMIT1_PART) - TUMIT1_DROP_REPORT_BYTES)
/* parts of a divided slot; the first one is not used */
#define TUMIT1_PARTS_PER_SLOT (TUMIT1_SLOT / TUMIT1_PART)
#define TUMIT1_MAX_NAMES 65536u   /* maximum number of strings, and of source positions */
#define TUMIT1_MAX_TEXT 4096u     /* maximum bytes of an interned string; the rest is truncated */
#define TUMIT1_RECENT 64u         /* number of strings whose ids a thread caches */
#define TUMIT1_DROP_REPORT_BYTES 42u     /* bytes of a `dropped` record */
#define TUMIT1_LZ4_BITS 12        /* bits of the LZ4 hash */
/* instead of a layout: records of this type are not packed by columns */
#define TUMIT1_NO_SHAPE 0xFFFFu
/* minimum bytes of the log of names in a live file, besides the names at the start */
#define TUMIT1_MIN_LOG_BYTES 65536u
#define TUMIT1_MAX_LOG_BYTES 1048576u
#define TUMIT1_CHUNK 16u          /* slots for which the live file reserves room at once */
/* bytes of the disk and of the file size limit, reserved for the end */
#define TUMIT1_RESERVE 16384u
#define TUMIT1_LAST_RESERVE 512u  /* of these, bytes for the end block */
#define TUMIT1_KEEP_SIZE 1        /* FALLOC_FL_KEEP_SIZE */
#define TUMIT1_TAGS_ROOM 12288u   /* bytes for the tagged fields of a process */
/* slots that are prepared, so that recording threads have no page faults */
#define TUMIT1_WARM_SLOTS 4u
#define TUMIT1_SLEEP_CALL 128 /* system call: FUTEX_WAIT, private to the process */
#define TUMIT1_WIPE_ON_FORK 18 /* MADV_WIPEONFORK, which older headers do not define */
/* maximum seconds that a thread waits for a slot, if the policy is `block` */
#define TUMIT1_WAIT_SECONDS 10u

/* A level in the form of the generated code. */
struct tumit1_level {
    const char *name_;
    uint32_t *word_;
    int enabled_; /* initial state from the spec */
};

/* A spec in the form of the generated code. */
struct tumit1_spec {
    const char *name_;
    /* packed payload of its block; the first record id is stored at `base_at_` */
    const unsigned char *schema_;
    uint32_t schema_bytes_;
    uint32_t schema_raw_;
    uint32_t base_at_;
    uint32_t ids_;
    const struct tumit1_level *levels_;
    uint32_t levels_count_;
    const uint16_t *runs_; /* pairs: a record, and the level from this record on */
    uint32_t runs_count_;
    const unsigned char *shapes_; /* layouts of records: number of parts (u16), and their codes */
    uint32_t shapes_bytes_;
    const uint16_t *shapes_at_;   /* position of the layout of each record */
    uint32_t registered_;
};

/* The policy of a level when no slot is free. */
enum {
    TUMIT1_POLICY_DROP = 0, /* drops the newest records */
    TUMIT1_POLICY_BLOCK,    /* lets threads wait */
    TUMIT1_POLICY_OVERWRITE /* overwrites the oldest records */
};

/* A registered spec. It is a copy, so that a library can be unloaded. Only `levels_` points into
 * the library. */
struct tumit1_provider {
    struct tumit1_provider *next_;
    unsigned char *schema_;
    unsigned char *on_;      /* per level: whether it is on, apart from a pause */
    unsigned char *policies_; /* per level: the policy if no slot is free */
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
    int is_copy_; /* a second copy of the spec, in another shared object; it has the same ids */
    int written_;
};

/* Dropped records of a stream that are not yet reported in a block. Atomic, because signal
 * handlers and threads without a slot add to it. */
struct tumit1_drops {
    uint64_t count_, bytes_, first_, last_;
    uint32_t cause_;
};

/* bytes of the tagged fields of a stream: three numbers, name and label */
#define TUMIT1_STREAM_BYTES 160

/* A stream of a thread. The recorder's lock protects it, except for the drop counts, and for
 * `recent_`, which only the thread itself uses. */
struct tumit1_stream {
    struct tumit1_stream *next_;
    struct tumit1_cursor *cursor_; /* NULL after the end of the thread */
    struct tumit1_slot *slot_;     /* the current slot, or NULL */
    uint64_t sequence_;            /* number of the first block from the next slot */
    uint64_t failed_;              /* blocks that could not be written; under the writer's lock */
    /* a slot with a part that is being written, or could not be written */
    struct tumit1_slot *planned_slot_;
    /* its contents in the file after that, in the form of `flushed_` */
    uint64_t planned_;
    uint64_t planned_last_;        /* timestamp of the last record of that part */
    uint64_t last_;                /* timestamp of its last record */
    uint64_t end_;                 /* end of the thread; 0 while it runs */
    uint64_t dropped_;             /* all dropped records, including overwritten ones */
    struct tumit1_drops drops_;
    struct tumit1_drops overwritten_;      /* overwritten records */
    uint64_t overwritten_end_;            /* number of the first block after them */
    /* one more than the number of the last block in the file; under the writer's lock */
    uint64_t appended_;
    uint64_t tid_;
    uint32_t stream_;
    uint32_t queued_;              /* slots in the queue, and the slot that is being written */
    /* full slots that are kept until a dump, or until they are overwritten */
    uint32_t retained_;
    int overwrites_;               /* the stream of levels that overwrite */
    int had_slot_;                 /* it already had a slot */
    int described_;                /* its id and name are in the file */
    char name_[48], label_[48];
    uint32_t recent_[TUMIT1_RECENT]; /* ids of strings, by hash */
};

struct tumit1_name {
    const char *text_;
    uint32_t length_;
    uint32_t hash_;
    uint32_t line_; /* line of a source position, otherwise 0 */
};

/* A table of names. Ids start at 1. */
struct tumit1_names {
    struct tumit1_name *entries_;
    uint32_t *slots_; /* hash table with open addressing; 0 is free */
    uint32_t count_;
    uint32_t written_; /* number of entries in the file; under the writer's lock */
    uint32_t logged_;  /* number of entries in the live file; under the lock */
};

enum { TUMIT1_CLOSED = 0, TUMIT1_OPEN = 1, TUMIT1_FAILED = 2, TUMIT1_ENDED = 3 };

/* The identity of a file in the system. A program that closes files which it did not open may
 * reuse our file descriptor for its own file. */
struct tumit1_identity {
    uint64_t device_, inode_;
    uint64_t bytes_; /* minimum size, because the system reuses the inode of a removed file */
};

/* The slots. They are mapped once and never unmapped, so that pointers to them stay valid. */
struct tumit1_pool {
    unsigned char *map_;     /* the front of a live file, then the slots */
    struct tumit1_slot **free_; /* stack: the slot that was returned last is in the caches */
    struct tumit1_slot **parts_; /* stack of free parts of divided slots */
    unsigned char *taken_parts_; /* number of used parts of each slot */
    struct tumit1_slot **queue_; /* ring buffer of slots to write, oldest first */
    size_t slots_offset_;    /* bytes before the first slot */
    uint32_t slots_;         /* maximum number of slots */
    uint32_t max_slots_;     /* number of slots with addresses */
    uint32_t max_parts_;     /* maximum number of parts, and length of the lists */
    uint32_t ready_;         /* slots before this one have room on the disk */
    uint32_t fresh_;         /* slots from this one on were never used */
    uint32_t free_count_, parts_count_;
    uint32_t queue_first_, queue_count_;
    struct tumit1_slot **kept_slots_;  /* ring buffer of full slots of streams that overwrite */
    uint32_t kept_first_, kept_count_;
    uint64_t kept_bytes_;
    struct tumit1_slot *being_written_; /* the slot of which a part is being written */
    uint32_t available_;     /* number of free slots; read without the lock, as a hint */
    uint32_t available_parts_; /* the same for parts */
    int refilled_;           /* slots were returned, because threads fill them */
    /* while the live file is created: it has a temporary name (1) or its final name (2) */
    int named_;
    int file_;               /* the live file */
    struct tumit1_identity identity_;
    int live_;               /* the slots are in the live file */
    uint32_t buffers_kind_;  /* place of the slots, as in the process block */
    int log_full_;           /* the log of names in the live file is full */
};

/* The values of the clocks from one combined reading. */
struct tumit1_reading {
    uint64_t ticks_;
    uint64_t monotonic_;
    uint64_t real_;
    uint64_t bracket_;       /* ticks of the duration of the reading */
};

/* The file, and the state of its contents. tumit1_writer_lock protects it. */
struct tumit1_writer {
    int file_;
    struct tumit1_identity identity_;
    /* only the end is missing: names and drop reports (1), or the end block (2) */
    int ending_;
    int reserves_;           /* room on the disk after the end of the file is reserved for these */
    uint64_t reserved_;      /* end of the reserved room */
    int has_unwritten_;        /* writing failed for contents that the live file still has */
    /* this was so at the end: there is no end block, and the live file stays */
    int keeps_live_file_;
    uint64_t offset_;        /* end of the last complete block */
    uint64_t sequence_;
    uint64_t written_;       /* number of written records */
    uint64_t latest_;        /* timestamp of the latest written record */
    uint64_t blocks_;        /* number of blocks of records */
    struct tumit1_reading read_; /* the latest reading of the clocks */
    int unread_;             /* this reading is not in the file */
    /* ticks per nanosecond of the system's clock between the last two readings; 0: unknown */
    double rate_;
    uint32_t clock_steps_;         /* number of steps of the clock */
    unsigned char *block_;   /* buffer for a block */
    unsigned char *copy_;    /* buffer for a payload with a changed first delta */
    struct tumit1_packer *packer_; /* NULL without a writer thread */
    uint16_t table_[1u << TUMIT1_LZ4_BITS];
};

/* A requested switch, from the program or from `tumit level`. It also applies to specs that are
 * registered later. */
struct tumit1_requested_switch {
    struct tumit1_requested_switch *next_;
    char *name_;
    int on_;
};

#define TUMIT1_DEFERRED_LEVELS 8 /* capacity for switched levels of signal handlers */

struct tumit1_session {
    int state_;
    int hooks_;              /* the fork handlers are installed */
    int keyed_;              /* `key_` exists; its destructor retires threads that end */
    int warned_;
    int paused_;
    int has_writer_thread_;  /* the writer thread `writer_thread_` exists */
    int stop_;               /* the writer thread must end */
    int join_;               /* the writer thread must end, and was not joined yet */
    /* the run folder has the default name, which is printed at the end */
    int prints_folder_;
    int inherits_;           /* the launch id is inherited from the parent process */
    int main_exited_;          /* the first thread has ended */
    uint32_t may_wait_;      /* threads of some level wait for room */
    uint32_t wanted_;        /* a thread waits; for tests */
    /* a thread waited without success; others do not wait until a slot is free */
    uint32_t stuck_;
    uint32_t wake_;          /* futex of the sleeping writer thread */
    uint32_t sleeps_;
    uint32_t waiting_;       /* number of threads that wait for the writer's lock */
    pthread_t writer_thread_;
    pthread_key_t key_;
    uint64_t dropped_;       /* dropped records of ended threads, and those without a stream */
    /* for opening files and writing names, under the writer's lock, because threads may have small
     * stacks */
    struct {
        char part_[PATH_MAX], folder_[PATH_MAX], path_[PATH_MAX + 168], text_[4096];
        unsigned char tags_[TUMIT1_TAGS_ROOM],
            names_[TUMIT1_HEADER_BYTES + 4 * TUMIT1_MAX_TEXT + 64];
        unsigned char packed_[TUMIT1_HEADER_BYTES + 4 * TUMIT1_MAX_TEXT + 64];
    } scratch_;
    char start_folder_[PATH_MAX];  /* the working folder at the start of the program */
    char live_from_[PATH_MAX]; /* TUMIT_LIVE, relative to that folder */
    int leaving_;              /* the program's own destructors have run */
    uint32_t deferred_;           /* deferred requests of signal handlers */
    uint64_t deferred_turn_;      /* number of levels that they switched */
    struct {
        uint64_t turn_;
        uint32_t phase_; /* 0 free, 1 being written, 2 complete */
        int on_;
        char name_[64];
    } deferred_levels_[TUMIT1_DEFERRED_LEVELS];
    uint64_t truncated_;       /* number of truncated records */
    /* records with the timestamp of the previous record, because the clock ran backwards */
    uint64_t repeated_;
    /* dropped records of signal handlers before recording could begin */
    struct tumit1_drops early_drops_;
    uint32_t streams_;
    uint32_t alive_;         /* streams of threads that have not ended */
    uint32_t next_base_;
    int rank_;               /* -1 if unknown */
    int ranks_;
    int rank_known_;
    int has_parent_;
    /* 0 in a child without fork handlers: `_Fork`, or the system call itself */
    uint32_t *guard_;
    /* size of `mask_`, the initial processors; the writer thread avoids those of pinned threads */
    long mask_bytes_;
    unsigned long mask_[1024 / sizeof(unsigned long)];
    char host_[64];
    char launch_[257];       /* the launch id; empty while it is unknown */
    unsigned char id_[16];
    unsigned char parent_[16];
    char folder_[PATH_MAX];
    char path_[PATH_MAX + 160];
    const char *live_folder_; /* folder of the live file; NULL: the run folder */
    char live_path_[PATH_MAX + 160];
    struct tumit1_config config_; /* options of the program */
    struct tumit1_requested_switch *requested_switches_;  /* latest first */
    struct tumit1_pool pool_;
    struct tumit1_provider *providers_;
    struct tumit1_stream *live_;  /* streams that may have unreported data */
    struct tumit1_stream *spare_;
    struct tumit1_names strings_;
    struct tumit1_names sites_;
    unsigned char *arena_;   /* small allocations that live until the end */
    size_t arena_left_;
};

struct tumit1_clock {
    uint64_t (*user_)(void);
    int inline_; /* the clock is TUMIT_CLOCK(), which recording functions read inline */
    uint64_t hz_;
    uint64_t latest_; /* latest timestamp of a user's 32-bit clock, extended to 64 bits */
    int wide_;        /* a user's clock has values above 32 bits */
    char domain_[160];
};

extern TUMIT1_WEAK struct tumit1_session tumit1_session;
extern TUMIT1_WEAK struct tumit1_writer tumit1_writer;
extern TUMIT1_WEAK struct tumit1_clock tumit1_clock;
extern TUMIT1_WEAK pthread_mutex_t tumit1_state_lock;
extern TUMIT1_WEAK pthread_mutex_t tumit1_writer_lock;
extern TUMIT1_WEAK uint32_t tumit1_crc_tables[8][256];

struct tumit1_slot tumit1_full_slot = {TUMIT1_SLOT, 0, 0, 0, 0, 0, 0, 0, 0};
__thread struct tumit1_cursor tumit1_cursor = {
    &tumit1_full_slot, &tumit1_full_slot, 0, 0, 0, 0, 0, 0, 0, 0, NULL, &tumit1_full_slot, NULL,
    {0}, {0}, 0, 0, 0, 0};
struct tumit1_session tumit1_session;
struct tumit1_writer tumit1_writer;
struct tumit1_clock tumit1_clock;
uint32_t tumit1_clock_kind;
uint64_t tumit1_tasks;
pthread_mutex_t tumit1_state_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t tumit1_writer_lock = PTHREAD_MUTEX_INITIALIZER;
uint32_t tumit1_crc_tables[8][256];

TUMIT1_CALL void tumit1_complete_child(void);
TUMIT1_CALL void tumit1_begin_unannounced_child(void);
TUMIT1_CALL void tumit1_detach(struct tumit1_stream *t_, uint64_t now_);
TUMIT1_CALL void tumit1_apply_levels(void);
TUMIT1_CALL void tumit1_report_early_drops(void);
TUMIT1_CALL void tumit1_self_trace_request(const char *name_, size_t length_, int on_);
TUMIT1_CALL void tumit1_self_trace_read_settings(void);
TUMIT1_CALL int tumit1_self_trace_store_wait(int why_);
TUMIT1_CALL void tumit1_self_trace_record_wait(void);
TUMIT1_CALL int tumit1_self_trace_begin_write(void);
TUMIT1_CALL void tumit1_self_trace_end_write(void);
TUMIT1_CALL void tumit1_self_trace_end_stream(void);

/* The reason why a thread waited, with the numbers of the spec of self-tracing. */
enum { TUMIT1_WAITED_ROOM = 0, TUMIT1_WAITED_CALL = 1 };
