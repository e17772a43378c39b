
/* ---- From Fortran: texts, source positions and control ---- */

#define TUMIT1F_SHARED __attribute__((weak)) /* one copy for the modules of several specs */
#define TUMIT1F_HELPER __attribute__((unused)) static

#include <stdlib.h>

/* Number of bytes of a text. Blanks at its end are Fortran's padding. A NUL ends the text before
 * them. A text that is too long for a record is truncated later. */
TUMIT1F_HELPER size_t tumit1f_bytes(const char *text, size_t length) {
    const char *end;
    length = length < 65536u ? length : 65536u;
    end = (const char *)memchr(text, '\0', length);
    length = end != NULL ? (size_t)(end - text) : length;
    while (length > 0 && text[length - 1] == ' ') {
        length--;
    }
    return length;
}

TUMIT1F_HELPER const char *tumit1f_text(char *to, const char *text, size_t bytes) {
    memcpy(to, text, bytes);
    to[bytes] = '\0';
    return to;
}

/* `count` texts of `length` bytes each as C strings, in one allocation. Without memory: one
 * empty text. */
TUMIT1F_HELPER const char **tumit1f_texts(const char *text, size_t length, size_t count) {
    size_t i, used = count < 65535u ? count : 65535u, room = length < 65536u ? length : 65536u;
    const char **texts = (const char **)malloc((used + 1) * (sizeof *texts + room + 1));
    char *to = texts == NULL ? NULL : (char *)(texts + used + 1);
    for (i = 0; texts != NULL && i < used; i++) {
        size_t bytes = tumit1f_bytes(text + i * length, length);
        texts[i] = tumit1f_text(to, text + i * length, bytes);
        to += bytes + 1;
    }
    return texts;
}

/* The source position of a call. Each thread caches the latest ones, because a lookup in the
 * table of all positions is expensive. */
TUMIT1F_HELPER struct tumit1_site *tumit1f_place(const char *file, size_t length, int line) {
    static __thread struct {
        struct tumit1_site site;
        size_t length;
        char file[232];
    } places[16];
    static __thread struct tumit1_site unknown;
    struct tumit1_site *site;
    size_t slot;
    length = tumit1f_bytes(file, length);
    if (length == 0 || line <= 0) {
        return &unknown;
    }
    if (length >= sizeof places[0].file) {
        file += length - (sizeof places[0].file - 1); /* the end of a path is more informative than its start */
        length = sizeof places[0].file - 1;
    }
    slot = ((size_t)line + length) % (sizeof places / sizeof places[0]);
    site = &places[slot].site;
    if (site->line_ != (uint32_t)line || places[slot].length != length ||
        memcmp(places[slot].file, file, length) != 0) {
        site->file_ = tumit1f_text(places[slot].file, file, length);
        site->line_ = (uint32_t)line;
        site->id_ = 0;
        places[slot].length = length;
    }
    return site;
}

TUMIT1F_SHARED int64_t tumit1f_now(void) { return (int64_t)tumit1_now(); }
TUMIT1F_SHARED int64_t tumit1f_new_task(void) { return (int64_t)tumit1_new_task(); }
TUMIT1F_SHARED void tumit1f_flush(void) { tumit1_flush(); }
TUMIT1F_SHARED void tumit1f_dump(void) { tumit1_dump(); }
TUMIT1F_SHARED void tumit1f_finish(void) { tumit1_finish(); }
TUMIT1F_SHARED void tumit1f_pause(void) { tumit1_pause(); }
TUMIT1F_SHARED void tumit1f_resume(void) { tumit1_resume(); }
/* The arguments are four consecutive texts. An empty text counts as absent. */
TUMIT1F_SHARED int tumit1f_start(const char *texts, const size_t *lengths, int64_t memory) {
    struct tumit1_config config;
    const char **to[4];
    char *copies[4];
    size_t i;
    int error;
    memset(&config, 0, sizeof config);
    to[0] = &config.folder_;
    to[1] = &config.live_folder_;
    to[2] = &config.policies_;
    to[3] = &config.buffers_;
    for (i = 0; i < 4; i++) {
        size_t bytes = tumit1f_bytes(texts, lengths[i]);
        copies[i] = bytes == 0 ? NULL : (char *)malloc(bytes + 1);
        *to[i] = copies[i] == NULL ? NULL : tumit1f_text(copies[i], texts, bytes);
        texts += lengths[i];
    }
    config.memory_bytes_ = memory > 0 ? (uint64_t)memory : 0;
    error = tumit1_start(&config); /* which copies the texts */
    for (i = 0; i < 4; i++) {
        free(copies[i]);
    }
    return error;
}
/* Fills the type `tumit_stats` of the module. */
TUMIT1F_SHARED void tumit1f_get_stats(int64_t *to) {
    struct tumit1_stats stats;
    tumit1_get_stats(&stats);
    to[0] = (int64_t)stats.written_;
    to[1] = (int64_t)stats.dropped_;
    to[2] = (int64_t)stats.in_live_file_;
    to[3] = (int64_t)stats.file_bytes_;
    to[4] = (int64_t)stats.blocks_;
    to[5] = (int64_t)stats.streams_;
    to[6] = stats.slots_;
    to[7] = stats.slots_free_;
    to[8] = stats.slots_full_;
    to[9] = stats.mapped_;
    to[10] = stats.writer_thread_;
}
TUMIT1F_SHARED int tumit1f_set_level(const char *name, size_t length, int on) {
    size_t bytes = tumit1f_bytes(name, length);
    char text[bytes + 1];
    return tumit1_set_level(tumit1f_text(text, name, bytes), on);
}
TUMIT1F_SHARED void tumit1f_set_thread_name(const char *name, size_t length) {
    size_t bytes = tumit1f_bytes(name, length);
    char text[bytes + 1];
    tumit1_set_thread_name(tumit1f_text(text, name, bytes));
}

TUMIT1F_SHARED void tumit1f_set_stream_label(const char *label, size_t length) {
    size_t bytes = tumit1f_bytes(label, length);
    char text[bytes + 1];
    tumit1_set_stream_label(tumit1f_text(text, label, bytes));
}
/* Ticks are unsigned. A Fortran function of 64 bits is signed, but has the same bits. */
TUMIT1F_SHARED int tumit1f_set_clock(uint64_t (*ticks)(void), int64_t hz, const char *domain, size_t length) {
    size_t bytes = tumit1f_bytes(domain, length);
    char text[bytes + 1];
    return tumit1_set_clock(ticks, (uint64_t)hz, tumit1f_text(text, domain, bytes));
}

/* ---- From Fortran: MPI ---- */

#if defined TUMIT_MPI && !defined TUMIT_OFF
TUMIT1F_SHARED void tumit1f_mpi_start(void) { tumit1_mpi_start(); }
TUMIT1F_SHARED void tumit1f_mpi_sync(void) { tumit1_mpi_sync(); }
TUMIT1F_SHARED void tumit1f_mpi_sync_point(void) { (void)tumit1_mpi_sync_point(); }
TUMIT1F_SHARED void tumit1f_mpi_finish(void) { tumit1_mpi_finish(); }

/* These functions intercept `call MPI_Init` before MPI's own routine: with `use mpi` and mpif.h,
 * and with `use mpi_f08`, where `ierror` can be absent. They call MPI's routine by its profiling
 * name. If a library lacks the name of one interface, they call that of the next. */
#define TUMIT1F_MAYBE __attribute__((weak))
extern TUMIT1F_MAYBE void pmpi_init_(MPI_Fint *error);
extern TUMIT1F_MAYBE void pmpi_init_f08_(MPI_Fint *error);
extern TUMIT1F_MAYBE void pmpi_init_thread_(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *error);
extern TUMIT1F_MAYBE void pmpi_init_thread_f08_(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *error);
extern TUMIT1F_MAYBE void pmpi_finalize_(MPI_Fint *error);
extern TUMIT1F_MAYBE void pmpi_finalize_f08_(MPI_Fint *error);

TUMIT1F_HELPER void tumit1f_started(MPI_Fint result, MPI_Fint *error) {
    if (result == MPI_SUCCESS) {
        tumit1_mpi_start();
    }
    if (error != NULL) {
        *error = result;
    }
}
TUMIT1F_HELPER void tumit1f_init(void (*own)(MPI_Fint *), MPI_Fint *error) {
    MPI_Fint result = MPI_SUCCESS;
    own = own != NULL ? own : pmpi_init_;
    if (own != NULL) {
        own(&result);
    } else {
        result = (MPI_Fint)PMPI_Init(NULL, NULL);
    }
    tumit1f_started(result, error);
}
TUMIT1F_HELPER void tumit1f_init_thread(void (*own)(MPI_Fint *, MPI_Fint *, MPI_Fint *), MPI_Fint *required,
                                        MPI_Fint *provided, MPI_Fint *error) {
    MPI_Fint result = MPI_SUCCESS;
    own = own != NULL ? own : pmpi_init_thread_;
    if (own != NULL) {
        own(required, provided, &result);
    } else {
        int got = 0;
        result = (MPI_Fint)PMPI_Init_thread(NULL, NULL, (int)*required, &got);
        *provided = (MPI_Fint)got;
    }
    tumit1f_started(result, error);
}
TUMIT1F_HELPER void tumit1f_finalize(void (*own)(MPI_Fint *), MPI_Fint *error) {
    MPI_Fint result = MPI_SUCCESS;
    tumit1_mpi_finish();
    own = own != NULL ? own : pmpi_finalize_;
    if (own != NULL) {
        own(&result);
    } else {
        result = (MPI_Fint)PMPI_Finalize();
    }
    if (error != NULL) {
        *error = result;
    }
}

TUMIT1F_SHARED void mpi_init_(MPI_Fint *error) { tumit1f_init(pmpi_init_, error); }
TUMIT1F_SHARED void mpi_init_f08_(MPI_Fint *error) { tumit1f_init(pmpi_init_f08_, error); }
TUMIT1F_SHARED void mpi_init_thread_(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *error) {
    tumit1f_init_thread(pmpi_init_thread_, required, provided, error);
}
TUMIT1F_SHARED void mpi_init_thread_f08_(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *error) {
    tumit1f_init_thread(pmpi_init_thread_f08_, required, provided, error);
}
TUMIT1F_SHARED void mpi_finalize_(MPI_Fint *error) { tumit1f_finalize(pmpi_finalize_, error); }
TUMIT1F_SHARED void mpi_finalize_f08_(MPI_Fint *error) { tumit1f_finalize(pmpi_finalize_f08_, error); }
#else
TUMIT1F_SHARED void tumit1f_mpi_start(void) {}
TUMIT1F_SHARED void tumit1f_mpi_sync(void) {}
TUMIT1F_SHARED void tumit1f_mpi_sync_point(void) {}
TUMIT1F_SHARED void tumit1f_mpi_finish(void) {}
#endif

/* ---- The records ---- */
