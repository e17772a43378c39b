/* ---- What recording functions touch of the recorder, and what programs call ---- */

TUMIT1_BEGIN_DECLS

#define TUMIT1_ON 0x80000000u /* a level's word: this bit and the provider's first record id, or 0 when off */

/* Where a thread writes. All zero means: full, hence the ordinary slow path is also the first one. */
struct tumit1_cursor {
    unsigned char *at_;      /* published by release stores: what is before it is whole */
    unsigned char *end_;     /* a wide date still fits behind it */
    uint64_t last_;          /* date of the last record */
    uint32_t busy_;          /* inside the recorder */
    uint32_t nested_;        /* records of signal handlers that came while busy */
    struct tumit1_thread *thread_;
    char name_[48];
};

extern TUMIT1_SHARED __thread struct tumit1_cursor tumit1_cursor __attribute__((__tls_model__("initial-exec")));
extern TUMIT1_SHARED uint32_t tumit1_clock_kind;
extern TUMIT1_SHARED uint64_t tumit1_tasks;

TUMIT1_CALL unsigned char *tumit1_make_room(size_t bytes_);
TUMIT1_CALL unsigned char *tumit1_wide_date(unsigned char *p_, uint64_t now_);
TUMIT1_CALL void tumit1_count_nested(void);
TUMIT1_CALL uint64_t tumit1_now_slow(void);
TUMIT1_CALL uint32_t tumit1_intern(const char *text_);
TUMIT1_CALL uint32_t tumit1_site_new(struct tumit1_site *site_);

/* Switches a level (`APP`, or `TRACE.APP`) while the program runs. Returns how many levels of that name there are. */
TUMIT1_CALL int tumit1_set_level(const char *name_, int on_);
/* Names the calling thread in the trace. */
TUMIT1_CALL void tumit1_set_thread_name(const char *name_);
/* Writes what all threads recorded until now. The end of the program does so by itself. */
TUMIT1_CALL void tumit1_flush(void);
/* A clock of the program's own, before the first record: `hz_` ticks a second (0 when unknown), and a `domain_`: processes
 * that give equal texts say that they read one clock. It must never run backwards in a thread. Returns 0, or -1 when it
 * is too late. The same at compile time, for all records of a translation unit: TUMIT_CLOCK(), TUMIT_CLOCK_HZ and
 * TUMIT_CLOCK_DOMAIN, defined alike in all of them. */
TUMIT1_CALL int tumit1_set_clock(uint64_t (*ticks_)(void), uint64_t hz_, const char *domain_);
