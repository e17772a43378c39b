/* ---- The state that recording functions access, and the functions for programs ---- */

TUMIT1_BEGIN_DECLS

/* The word of a level is 0 when the level is off. Otherwise it is one of these bits and the
 * first record id of the provider. The bit of levels with policy `overwrite` makes the word
 * negative.
 *
 * The value of a thread inside the recorder (`busy_`) is larger than all words. Otherwise it is
 * 0, which is larger than a negative word. So one comparison detects both cases of the slow
 * path. */
#define TUMIT1_ON 0x40000000u
#define TUMIT1_OVERWRITES 0x80000000u
#define TUMIT1_BUSY 0x7FFFFFFFu
/* added to an id: the record has texts or counted arrays, which can be truncated */
#define TUMIT1_TRUNCATABLE 0x10000u

/* bytes of a slot, the unit in which threads pass on their records */
#define TUMIT1_SLOT 65536u
#define TUMIT1_SLOT_HEAD 64u       /* bytes of its head, before the payload */
#define TUMIT1_WIDE_BYTES 14u      /* bytes of a wide timestamp: id, delta, timestamp */
/* payload, without room for a wide timestamp */
#define TUMIT1_ROOM_OF(bytes_) ((bytes_) - TUMIT1_SLOT_HEAD - TUMIT1_WIDE_BYTES)
#define TUMIT1_ROOM TUMIT1_ROOM_OF(TUMIT1_SLOT)
#define TUMIT1_ONE_RECORD ((uint64_t)1 << 32)

/* The head of a slot, as in the format of live files. The owner writes `state_` last: bytes of
 * the payload in the low half, number of records in the high half. `state_` is both the position
 * of the next record and the publication of those before it. */
struct tumit1_slot {
    uint64_t state_;
    uint64_t last_;         /* timestamp of the last record */
    uint64_t first_;        /* base of the first delta */
    uint64_t flushed_;      /* contents that are in the file: bytes u32, records u16, blocks u16 */
    uint64_t flushed_last_; /* timestamp of the last record in the file */
    uint64_t sequence_;     /* number of the first block from this slot */
    uint64_t dropped_;      /* dropped records of the stream so far */
    uint32_t stream_;
    /* 1: used by a stream, 2: by one that overwrites, 3: being overwritten, 4: divided */
    uint32_t taken_;
};

/* The processor's counter, if it has one that can be read inline, and the number of this clock
 * in files. */
#if defined __x86_64__ || defined __i386__
#define TUMIT1_CLOCK_NATIVE TUMIT1_CLOCK_TSC
TUMIT1_HOT uint64_t tumit1_counter(void) { return __builtin_ia32_rdtsc(); }
#elif defined __aarch64__
#define TUMIT1_CLOCK_NATIVE TUMIT1_CLOCK_ARM
TUMIT1_HOT uint64_t tumit1_counter(void) {
    uint64_t ticks_;
    __asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(ticks_));
    return ticks_;
}
#else
#define TUMIT1_CLOCK_NATIVE 0xFFFFFFFFu
TUMIT1_HOT uint64_t tumit1_counter(void) { return 0; }
#endif

/* The slot that a thread writes to. It is `tumit1_full_slot` while the thread has no slot, and when
 * the clock of the process is not the one that is read inline. So the ordinary slow path also
 * handles the first record. */
struct tumit1_cursor {
    struct tumit1_slot *slot_;  /* for functions that read the processor's counter */
    struct tumit1_slot *other_; /* for functions that read TUMIT_CLOCK() */
    uint32_t busy_;         /* TUMIT1_BUSY inside the recorder */
    /* payload bytes of `slot_` and `other_`; threads with few records have a part of a slot */
    uint32_t room_;
    uint32_t flight_room_;    /* payload bytes of `flight_slot_` */
    uint32_t locked_;       /* the thread holds locks of the recorder */
    uint32_t stack_walks_;        /* the thread walks its stack */
    uint32_t user_clock_calls_;         /* the thread is in a clock of the program */
    /* the program's errno, which is restored after a call of the recorder */
    int errno_;
    uint32_t forked_;       /* the process forked while the thread was inside the recorder */
    struct tumit1_stream *thread_;
    struct tumit1_slot *flight_slot_;     /* slot for records of levels that overwrite */
    struct tumit1_stream *flight_thread_;  /* stream of these records */
    char name_[48], label_[48];
    uint32_t before_fork_;  /* during a fork: the argument of tumit1_end_work() after it */
    uint32_t inner_forks_;  /* forks by signal handlers inside the recorder */
    /* end of the wait for the last record, which the next record reports; 0: no wait */
    uint64_t waited_until_;
    unsigned char waited_why_;
};

/* A slot with room for a record, and the timestamp of the record. Without a slot: `now_` is 0
 * when the record is dropped. Otherwise it is the number of bytes to which the record must be
 * truncated, with a mark. */
struct tumit1_room {
    struct tumit1_slot *slot_;
    uint64_t now_;
};

/* The slot of a record, the state of the slot after it, and its timestamp. Without a slot:
 * `state_` is the `now_` of the room. */
struct tumit1_place {
    struct tumit1_slot *slot_;
    uint64_t state_;
    uint64_t now_;
};

extern TUMIT1_SHARED __thread struct tumit1_cursor tumit1_cursor
    __attribute__((__tls_model__("initial-exec")));
extern TUMIT1_SHARED struct tumit1_slot tumit1_full_slot;
extern TUMIT1_SHARED uint32_t tumit1_clock_kind;
extern TUMIT1_SHARED uint64_t tumit1_tasks;

TUMIT1_CALL struct tumit1_room tumit1_make_room(uint32_t id_, size_t bytes_, uint64_t now_);
TUMIT1_CALL struct tumit1_room tumit1_make_room_special(uint32_t id_, size_t bytes_);
TUMIT1_CALL size_t tumit1_fit(struct tumit1_place *to_, uint64_t limit_, size_t fixed_,
                              const size_t *sizes_, size_t count_);
TUMIT1_CALL size_t tumit1_fit_text(const char *text_, size_t bytes_, size_t max_);
TUMIT1_CALL unsigned char *tumit1_begin_cut(uint32_t id_, size_t bytes_, struct tumit1_place *to_);
TUMIT1_CALL uint32_t tumit1_put_wide_timestamp(unsigned char *p_, uint64_t last_, uint64_t now_);
TUMIT1_CALL uint64_t tumit1_now_slow(void);
TUMIT1_CALL uint32_t tumit1_intern(const char *text_);
TUMIT1_CALL uint32_t tumit1_site_new(struct tumit1_site *site_);

/* Choices of a program before its first record. For NULL or 0, the environment decides. */
struct tumit1_config {
    const char *folder_;      /* the run folder [TUMIT_TRACE] */
    const char *live_folder_; /* the folder of the live file [TUMIT_LIVE] */
    const char *policies_;    /* added to TUMIT_POLICY: `COM=block,APP=overwrite` */
    const char *buffers_;     /* "mapped" or "private" [TUMIT_BUFFERS] */
    uint64_t memory_bytes_;   /* memory for records that are not in the file yet [TUMIT_MEMORY] */
};
/* Starts recording with these choices (NULL: none). The call is optional, because the first
 * record starts recording, too. Returns 0 or an errno: EALREADY when recording has begun
 * (MPI_Init and TUMIT_START=1 also begin it), has ended, or could not begin before. The program
 * can continue in any case. A forked child can call it, too. Without a folder of its own it
 * records into that of its parent. */
TUMIT1_CALL int tumit1_start(const struct tumit1_config *config_);
/* Sets the rank of this process in its job, and the number of ranks, before recording starts.
 * Without this call, the variables of the launcher determine them. TUMIT_MPI makes the call. */
TUMIT1_CALL void tumit1_set_rank(int rank_, int ranks_);

/* Switches a level (`APP`, or `TRACE.APP`) while the program runs. Returns the number of levels
 * with this name. The switch also applies to libraries that are loaded later.
 *
 * In a signal handler that interrupted the recorder, it returns -1, and the writer thread
 * switches the level within 0.1 s. Flush, dump, pause and resume behave alike there. Eight names
 * of levels of up to 63 bytes can be pending. All other calls do nothing there. */
TUMIT1_CALL int tumit1_set_level(const char *name_, int on_);
/* Names the calling thread in the trace. */
TUMIT1_CALL void tumit1_set_thread_name(const char *name_);
/* Labels the records of the calling thread ("io", "GPU 0"). Rules can read the label as
 * `stream_label`, and group threads by it. The latest label applies to the whole run. */
TUMIT1_CALL void tumit1_set_stream_label(const char *label_);
/* Writes all records of all threads so far. The end of the program does this automatically. */
TUMIT1_CALL void tumit1_flush(void);
/* Writes the records of the levels that overwrite, of all threads, oldest first. These levels
 * continue to record, into empty buffers. The end of the program does this automatically. With
 * mapped buffers, the live file of a killed program has their contents. */
TUMIT1_CALL void tumit1_dump(void);
/* Ends the trace before the program ends: writes all records, and drops later ones. It does
 * nothing before the first record. */
TUMIT1_CALL void tumit1_finish(void);
/* Switch all levels off, and back to their states. Switches during a pause take effect after it. */
TUMIT1_CALL void tumit1_pause(void);
TUMIT1_CALL void tumit1_resume(void);
/* Statistics of the recorder. */
struct tumit1_stats {
    uint64_t written_;       /* records in the file; without those in the slots of threads */
    uint64_t dropped_;       /* dropped records, including overwritten ones */
    /* records that stay in the live file, because writing the file failed */
    uint64_t in_live_file_;
    uint64_t file_bytes_;
    uint64_t blocks_;        /* blocks of records */
    uint64_t streams_;       /* one per thread with records */
    uint32_t slots_;         /* slots of 64 KiB each */
    uint32_t slots_free_;    /* free slots */
    uint32_t slots_full_;    /* full slots that are not yet written */
    int mapped_;             /* 1: slots survive the killing of the process */
    int writer_thread_;      /* 1: a writer thread writes */
};
TUMIT1_CALL void tumit1_get_stats(struct tumit1_stats *stats_);
/* Sets a clock of the program before the first record. `hz_` is its number of ticks per second
 * (0 when unknown). Processes with equal texts in `domain_` read the same clock (NULL: no other
 * process reads it). Returns 0, or -1 when it is too late.
 *
 * The clock must never run backwards in a thread. Any thread can read it, and the writer thread
 * does so about once a second. A counter of 32 bits may wrap, if its period is at least two
 * seconds. Nanoseconds that are computed from such a counter wrap at another value, which is not
 * detected.
 *
 * At compile time, TUMIT_CLOCK(), TUMIT_CLOCK_HZ and TUMIT_CLOCK_DOMAIN have the same effect for
 * all records of a translation unit. They must be equal in all units. */
TUMIT1_CALL uint64_t tumit1_unwrapped(uint64_t ticks_);
TUMIT1_CALL int tumit1_choose_user_clock(uint64_t (*ticks_)(void), uint64_t hz_,
                                         const char *domain_, int inline_);
TUMIT1_CALL int tumit1_set_clock(uint64_t (*ticks_)(void), uint64_t hz_, const char *domain_);
