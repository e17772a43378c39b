/* ---- What recording functions touch of the recorder, and what programs call ---- */

TUMIT1_BEGIN_DECLS

/* A level's word: 0 when off, else one of these bits and the provider's first record id; that of levels which overwrite makes a
 * negative number of it. What a thread is inside the recorder: larger than all of them, and 0 otherwise, which is larger than a
 * negative one. So one comparison finds both what must go elsewhere. */
#define TUMIT1_ON 0x40000000u
#define TUMIT1_RING 0x80000000u
#define TUMIT1_BUSY 0x7FFFFFFFu
#define TUMIT1_CUTTABLE 0x10000u /* beside an id: the record has texts or counted arrays, which can be truncated */

#define TUMIT1_SLOT 65536u         /* bytes of a slot, the unit in which threads hand over their records */
#define TUMIT1_SLOT_HEAD 64u       /* of these: its head; then the payload */
#define TUMIT1_WIDE_BYTES 14u      /* a wide date: id, delta, date */
#define TUMIT1_ROOM_OF(bytes_) ((bytes_) - TUMIT1_SLOT_HEAD - TUMIT1_WIDE_BYTES) /* payload; a wide date still fits behind it */
#define TUMIT1_ROOM TUMIT1_ROOM_OF(TUMIT1_SLOT)
#define TUMIT1_ONE_RECORD ((uint64_t)1 << 32)

/* The head of a slot, as the format of live files says. Its owner writes `state_` last: bytes of the payload in the low half,
 * records in the high half. It is both the place of the next record and the publication of those before it. */
struct tumit1_slot {
    uint64_t state_;
    uint64_t last_;         /* date of the last record */
    uint64_t first_;        /* date from which the first delta counts */
    uint64_t flushed_;      /* what is in the file already: bytes u32, records u16, blocks u16 */
    uint64_t flushed_last_; /* date of the last record that is in the file already */
    uint64_t sequence_;     /* of the first block that is made of this slot */
    uint64_t dropped_;      /* records of the stream that were dropped so far */
    uint32_t stream_;
    uint32_t taken_;        /* 1 while it belongs to a stream, 2 to one that overwrites, 3 while it is being overwritten, 4 while it is divided */
};

/* The processor's counter, where it has one that can be read inline, and how files call that clock. */
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

/* Where a thread writes: `tumit1_full` while it has no slot, and when the process's clock is not the one that is read
 * inline. Hence the ordinary slow path is also the first one. */
struct tumit1_cursor {
    struct tumit1_slot *slot_;  /* for those that read the processor's counter */
    struct tumit1_slot *other_; /* for those that read TUMIT_CLOCK() */
    uint32_t busy_;         /* TUMIT1_BUSY inside the recorder */
    uint32_t room_;         /* bytes of payload that `slot_` and `other_` take: threads that record little have a part of a slot */
    uint32_t ring_room_;    /* the same of `ring_` */
    uint32_t locked_;       /* it holds the recorder's locks */
    uint32_t walks_;        /* it looks up its stack */
    uint32_t asks_;         /* it is in a clock of the program's own */
    int errno_;             /* what the program finds there again behind the recorder's calls */
    uint32_t forked_;       /* and its process forked then */
    struct tumit1_thread *thread_;
    struct tumit1_slot *ring_;           /* for records of levels that overwrite */
    struct tumit1_thread *ring_thread_;  /* their stream */
    char name_[48], label_[48];
    uint32_t before_fork_;  /* of a fork under way: what to give tumit1_idle() behind it */
    uint32_t inner_forks_;  /* begun by signal handlers, while it was inside the recorder */
    uint64_t waited_until_; /* for its last record, which the next one shall tell; 0: it did not */
    unsigned char waited_why_;
};

/* A slot with room for a record, and the record's date. Without a slot: 0 when the record is dropped, else the bytes to which it is to be
 * truncated, with its mark. */
struct tumit1_room {
    struct tumit1_slot *slot_;
    uint64_t now_;
};

/* Where a record goes, the slot's state when it is whole, and its date. Without a slot: `state_` is the room's `now_`. */
struct tumit1_place {
    struct tumit1_slot *slot_;
    uint64_t state_;
    uint64_t now_;
};

extern TUMIT1_SHARED __thread struct tumit1_cursor tumit1_cursor __attribute__((__tls_model__("initial-exec")));
extern TUMIT1_SHARED struct tumit1_slot tumit1_full;
extern TUMIT1_SHARED uint32_t tumit1_clock_kind;
extern TUMIT1_SHARED uint64_t tumit1_tasks;

TUMIT1_CALL struct tumit1_room tumit1_make_room(uint32_t id_, size_t bytes_, uint64_t now_);
TUMIT1_CALL struct tumit1_room tumit1_find_elsewhere(uint32_t id_, size_t bytes_);
TUMIT1_CALL size_t tumit1_fit(struct tumit1_place *to_, uint64_t limit_, size_t fixed_, const size_t *sizes_, size_t count_);
TUMIT1_CALL size_t tumit1_fit_text(const char *text_, size_t bytes_, size_t most_);
TUMIT1_CALL unsigned char *tumit1_begin_cut(uint32_t id_, size_t bytes_, struct tumit1_place *to_);
TUMIT1_CALL uint32_t tumit1_wide_date(unsigned char *p_, uint64_t last_, uint64_t now_);
TUMIT1_CALL uint64_t tumit1_now_slow(void);
TUMIT1_CALL uint32_t tumit1_intern(const char *text_);
TUMIT1_CALL uint32_t tumit1_site_new(struct tumit1_site *site_);

/* What a program may choose before its first record. What is NULL or 0 is as the environment says. */
struct tumit1_config {
    const char *folder_;      /* the run folder; else TUMIT_TRACE */
    const char *live_folder_; /* where the live file goes; else TUMIT_LIVE */
    const char *policies_;    /* as in TUMIT_POLICY, which it is added to: `COM=block,APP=overwrite` */
    const char *buffers_;     /* "mapped" or "private"; else TUMIT_BUFFERS */
    uint64_t memory_bytes_;   /* of records that are not in the file yet; else TUMIT_MEMORY */
};
/* Starts recording now, with these choices (NULL: none). Optional: the first record does it. Returns 0, or an errno: EALREADY
 * when recording has begun (MPI_Init and TUMIT_START=1 begin it, too), has ended, or could not begin before. The program can go on in any
 * case. A forked child may start, too: without a folder of its own it records into its parent's. */
TUMIT1_CALL int tumit1_start(const struct tumit1_config *config_);

/* Switches a level (`APP`, or `TRACE.APP`) while the program runs. Returns how many levels of that name there
 * are; it holds for libraries that are loaded later, too. In a signal handler that interrupted the recorder it returns -1 and leaves it to the
 * helper thread, as do there flush, dump, pause and resume: it is done a tenth of a second later at most (eight names of levels of up to 63 bytes can
 * wait). All other calls do nothing there. */
TUMIT1_CALL int tumit1_set_level(const char *name_, int on_);
/* Names the calling thread in the trace. */
TUMIT1_CALL void tumit1_set_thread_name(const char *name_);
/* Labels what the calling thread records ("io", "GPU 0"): rules know it as `stream_label`, and can group threads by it. The latest one counts, for
 * the whole run. */
TUMIT1_CALL void tumit1_set_stream_label(const char *label_);
/* Writes what all threads recorded until now. The end of the program does so by itself. */
TUMIT1_CALL void tumit1_flush(void);
/* Writes what the levels that overwrite hold, of all threads, oldest first. They go on recording, into what is then empty. The end of
 * the program does so by itself. Where buffers are mapped, what they hold is in the live file of a program that is killed. */
TUMIT1_CALL void tumit1_dump(void);
/* Ends the trace before the program ends: all is written, and what is recorded later is dropped. Before anything is recorded it does nothing. */
TUMIT1_CALL void tumit1_finish(void);
/* Switches all levels off, and back to what they were. Switches made in a pause hold after it. */
TUMIT1_CALL void tumit1_pause(void);
TUMIT1_CALL void tumit1_resume(void);
/* What the recorder did so far. */
struct tumit1_stats {
    uint64_t written_;       /* records in the file; what threads have in their slots is not yet */
    uint64_t dropped_;       /* records, for whatever reason; those that were overwritten, too */
    uint64_t kept_;          /* records that are in the live file after the end, as the file could not take them */
    uint64_t file_bytes_;
    uint64_t blocks_;        /* of records */
    uint64_t streams_;       /* one for each thread that recorded */
    uint32_t slots_;         /* of 64 KiB each */
    uint32_t slots_free_;    /* a thread could have them at once */
    uint32_t slots_full_;    /* they wait to be written */
    int mapped_;             /* slots survive when the process is killed */
    int helper_;             /* a helper thread writes */
};
TUMIT1_CALL void tumit1_get_stats(struct tumit1_stats *stats_);
/* A clock of the program's own, before the first record: `hz_` ticks a second (0 when unknown), and a `domain_`: processes
 * that give equal texts say that they read one clock (NULL: nobody else reads it). It must never run backwards in a thread, and any
 * thread may read it: the recorder's own does about once a second. A counter of 32 bits may wrap, if its period is at least two seconds
 * (nanoseconds that are computed from such a counter wrap elsewhere, which is not recognised). Returns 0, or -1 when it is too late. The same at compile time, for all records of a translation unit: TUMIT_CLOCK(), TUMIT_CLOCK_HZ and
 * TUMIT_CLOCK_DOMAIN, defined alike in all of them. */
TUMIT1_CALL uint64_t tumit1_unwrapped(uint64_t ticks_);
TUMIT1_CALL int tumit1_choose_clock(uint64_t (*ticks_)(void), uint64_t hz_, const char *domain_, int inline_);
TUMIT1_CALL int tumit1_set_clock(uint64_t (*ticks_)(void), uint64_t hz_, const char *domain_);
