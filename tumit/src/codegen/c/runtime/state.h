/* ---- What the recorder knows ---- */

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

#define TUMIT1_BLOCK 65536u       /* payload bytes of a block; positions in it fit 16 bits */
#define TUMIT1_SMALL_BLOCK 8192u  /* of threads beyond the first TUMIT1_MANY_THREADS */
#define TUMIT1_MANY_THREADS 128u
#define TUMIT1_MAX_THREADS 1024u  /* at once: later ones drop and count */
#define TUMIT1_MAX_NAMES 65536u   /* strings, and as many source positions */
#define TUMIT1_MAX_TEXT 4096u     /* bytes of an interned string; the rest is cut */
#define TUMIT1_RECENT 64u         /* strings whose ids a thread remembers */
#define TUMIT1_WIDE_BYTES 14u     /* a wide date: id, delta, date */
#define TUMIT1_LOST_BYTES 42u     /* a `lost` record */
#define TUMIT1_LZ4_BITS 12        /* of its hash */
#define TUMIT1_ON 0x80000000u     /* a level's word: this bit and the provider's first record id, or 0 when off */

TUMIT1_BEGIN_DECLS

/* A level as the generated code declares it. */
struct tumit1_level {
    const char *name;
    uint32_t *word;
    int enabled; /* as the spec says */
};

/* A spec as the generated code declares it. `shapes` holds for each record: bytes before the first counted field, then
 * pairs (element bytes, bytes up to the next counted field), then 0; `shape_at` where each begins. */
struct tumit1_spec {
    const char *name;
    const unsigned char *schema;
    uint32_t schema_bytes;
    uint32_t ids;
    const uint32_t *shapes;
    uint32_t shapes_count;
    const uint32_t *shape_at;
    const struct tumit1_level *levels;
    uint32_t levels_count;
    uint32_t registered;
};

/* A registered spec. All is copied, so that a library can be unloaded; only `levels` is the library's. */
struct tumit1_provider {
    struct tumit1_provider *next;
    unsigned char *schema;
    uint32_t *shapes;
    uint32_t *shape_at;
    const struct tumit1_level *levels;
    const void *home;
    char *name;
    uint32_t levels_count;
    uint32_t schema_bytes;
    uint32_t base;
    uint32_t ids;
    int written;
};

struct tumit1_lost {
    uint64_t count, bytes, first, last;
    uint32_t cause;
};

/* The buffer of one thread. Its owner writes records between `start` and the cursor's `at` without a lock; all else
 * here is guarded by the recorder's lock. `room` is 64 bytes for a block header and then `size` bytes. */
struct tumit1_thread {
    struct tumit1_thread *next;
    struct tumit1_cursor *cursor;
    unsigned char *start;
    unsigned char *done;    /* sealed up to here */
    unsigned char *packed;  /* as long as the block: where it is compressed */
    uint64_t ticks;         /* date of the record before `done` */
    uint64_t sequence;
    uint64_t dropped;
    struct tumit1_lost lost;
    uint32_t size;
    uint32_t stream;
    int sealing;            /* its owner compresses outside the lock */
    int described;
    char name[48];
    uint64_t tid;
    uint32_t recent[TUMIT1_RECENT]; /* ids of strings, by hash: the owner's alone */
    uint16_t table[1u << TUMIT1_LZ4_BITS];
};

/* Where a thread writes. All zero means: full, hence the ordinary slow path is also the first one. */
struct tumit1_cursor {
    unsigned char *at;      /* published by release stores: what is before it is whole */
    unsigned char *end;     /* a wide date still fits behind it */
    uint64_t last;          /* date of the last record */
    uint32_t busy;          /* inside the recorder */
    uint32_t nested;        /* records of signal handlers that came while busy */
    struct tumit1_thread *thread;
    char name[48];
};

struct tumit1_name {
    const char *text;
    uint32_t length;
    uint32_t hash;
    uint32_t line; /* of a source position */
};

/* A table of names, ids from 1. */
struct tumit1_names {
    struct tumit1_name *entries;
    uint32_t *slots; /* open addressing; 0 is free */
    uint32_t count;
    uint32_t written;
};

enum { TUMIT1_CLOSED = 0, TUMIT1_OPEN = 1, TUMIT1_FAILED = 2, TUMIT1_ENDED = 3 };

struct tumit1_session {
    int state;
    int file;
    int hooks;              /* the fork handlers are installed */
    int keyed;              /* `key` is there: its destructor retires the buffers of threads that end */
    int warned;
    pthread_key_t key;
    uint64_t offset;        /* end of the last whole block in the file */
    uint64_t sequence;
    uint64_t written;       /* records */
    uint64_t dropped;       /* records of ended threads, and those that had no buffer */
    uint64_t anchored;      /* MONOTONIC ns of the last anchor */
    uint32_t streams;
    uint32_t threads;       /* now alive */
    uint32_t next_base;
    int rank;               /* -1 when unknown */
    int ranks;
    int rank_known;
    int has_parent;
    unsigned char id[16];
    unsigned char parent[16];
    char folder[PATH_MAX];
    char path[PATH_MAX + 160];
    struct tumit1_provider *providers;
    struct tumit1_thread *live;
    struct tumit1_thread *spare;
    struct tumit1_names strings;
    struct tumit1_names sites;
    unsigned char *arena;   /* small things that live until the end */
    size_t arena_left;
};

struct tumit1_clock {
    uint64_t (*user)(void);
    uint64_t hz;
    char domain[160];
};

extern TUMIT1_WEAK __thread struct tumit1_cursor tumit1_cursor __attribute__((tls_model("initial-exec")));
extern TUMIT1_WEAK struct tumit1_session tumit1_session;
extern TUMIT1_WEAK struct tumit1_clock tumit1_clock;
extern TUMIT1_WEAK uint32_t tumit1_clock_kind;
extern TUMIT1_WEAK pthread_mutex_t tumit1_lock;
extern TUMIT1_WEAK uint32_t tumit1_crc_tables[8][256];

__thread struct tumit1_cursor tumit1_cursor;
struct tumit1_session tumit1_session;
struct tumit1_clock tumit1_clock;
uint32_t tumit1_clock_kind;
pthread_mutex_t tumit1_lock = PTHREAD_MUTEX_INITIALIZER;
uint32_t tumit1_crc_tables[8][256];

/* The lock, for calls that are not records. A record that a signal handler tries meanwhile sees `busy` and does not wait
 * for the lock that its own thread holds. Returns what tumit1_unlock() needs. */
TUMIT1_SLOW uint32_t tumit1_lock_all(void) {
    uint32_t busy = tumit1_cursor.busy;
    tumit1_cursor.busy = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    pthread_mutex_lock(&tumit1_lock);
    return busy;
}
TUMIT1_SLOW void tumit1_unlock(uint32_t busy) {
    pthread_mutex_unlock(&tumit1_lock);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    tumit1_cursor.busy = busy;
}

/* Anonymous memory from the system: the recorder may be called from inside an allocator. NULL when there is none. */
TUMIT1_SLOW void *tumit1_map(size_t bytes) {
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

/* A small piece that is never given back. Under the lock. */
TUMIT1_SLOW void *tumit1_keep(const void *from, size_t bytes) {
    struct tumit1_session *s = &tumit1_session;
    size_t need = (bytes + 15u) & ~(size_t)15u;
    void *to;
    if (need > s->arena_left) {
        size_t chunk = need > 65536u ? need : 65536u;
        unsigned char *memory = (unsigned char *)tumit1_map(chunk);
        if (memory == NULL) {
            return NULL;
        }
        s->arena = memory;
        s->arena_left = chunk;
    }
    to = s->arena;
    s->arena += need;
    s->arena_left -= need;
    if (from != NULL && bytes != 0) {
        memcpy(to, from, bytes);
    }
    return to;
}

/* Says once per process why a trace is incomplete. */
TUMIT1_SLOW void tumit1_warn(const char *what, const char *path, int error) {
    if (!tumit1_session.warned) {
        tumit1_session.warned = 1;
        fprintf(stderr, "tumit: %s %s: %s; records will be missing\n", what, path, strerror(error));
    }
}
