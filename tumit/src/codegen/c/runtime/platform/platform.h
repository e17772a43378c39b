/* ---- Requirements for the compiler and the system ---- */

#if !defined __GNUC__
#error "tumit: this header needs GCC, Clang or a compiler that understands their attributes"
#endif
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "tumit: the run format is little-endian, and this header copies integers as they are"
#endif
#if defined __STRICT_ANSI__ && !defined _FEATURES_H && !defined _GNU_SOURCE && \
    !defined _DEFAULT_SOURCE
#define _DEFAULT_SOURCE 1
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined __STRICT_ANSI__ && defined __GLIBC__ && !defined TUMIT_OFF && \
    !defined TUMIT_EXTERN && !defined __USE_MISC
#error "tumit: with -std=c99, compile with -D_GNU_SOURCE, or include this header before any other (or use -std=gnu99)"
#define TUMIT_OFF /* avoids a series of errors that follow from this one */
#endif

#if defined __cplusplus
#define TUMIT1_BEGIN_DECLS extern "C" {
#define TUMIT1_END_DECLS }
#else
#define TUMIT1_BEGIN_DECLS
#define TUMIT1_END_DECLS
#endif

/* One copy for a program and the libraries linked with it: the linker keeps the first. The
 * symbols are visible even with -fvisibility=hidden. With TUMIT_EXTERN a unit only uses the
 * recorder of another unit of the program. */
#define TUMIT1_WEAK __attribute__((__weak__, __visibility__("default")))
#ifdef TUMIT_EXTERN
#define TUMIT1_SHARED __attribute__((__visibility__("default")))
#else
#define TUMIT1_SHARED TUMIT1_WEAK
#endif
/* -finstrument-functions skips these functions, because its hooks may record. */
#define TUMIT1_PLAIN __attribute__((__no_instrument_function__))
/* Never inlined, and not `cold`, because compilers would treat the callers as cold, too.
 * Functions that only the recorder itself calls are `cold`, which makes them small, except for
 * the functions that process each byte. */
#define TUMIT1_CALL extern TUMIT1_SHARED TUMIT1_PLAIN __attribute__((__noinline__))
#define TUMIT1_SLOW(...)                                                            \
    extern TUMIT1_WEAK TUMIT1_PLAIN __attribute__((__noinline__, __cold__)) __VA_ARGS__; \
    __VA_ARGS__
#define TUMIT1_WORK(...)                                                  \
    extern TUMIT1_WEAK TUMIT1_PLAIN __attribute__((__noinline__)) __VA_ARGS__; \
    __VA_ARGS__
/* The slow path of a recording function. */
#define TUMIT1_COLD static TUMIT1_PLAIN __attribute__((__noinline__, __cold__, __unused__))
#define TUMIT1_UNUSED __attribute__((__unused__))
#define TUMIT1_HOT static __inline__ TUMIT1_PLAIN __attribute__((__always_inline__, __unused__))
/* Runs before `main`, and before the constructors of C++. */
#define TUMIT1_ENTER TUMIT1_PLAIN __attribute__((__constructor__(101), __unused__))
#define TUMIT1_LIKELY(condition_) __builtin_expect(!!(condition_), 1)
#define TUMIT1_UNLIKELY(condition_) __builtin_expect(!!(condition_), 0)

/* A timestamp: ticks of this process's clock, from tumit1_now(). */
typedef uint64_t tumit1_date;
/* A position in the source. */
struct tumit1_site {
    const char *file_;
    uint32_t line_;
    uint32_t id_; /* 0 before the first use */
};

/* The current position in the source, as an expression. */
#ifdef TUMIT_OFF
#define TUMIT1_HERE NULL
#else
#define TUMIT1_HERE                                                        \
    __extension__({                                                        \
        static struct tumit1_site tumit1_here = {__FILE__, __LINE__, 0};   \
        &tumit1_here;                                                      \
    })
#endif

#if defined __cplusplus && __cplusplus >= 201103L
#define TUMIT1_METHOD __inline__ TUMIT1_PLAIN __attribute__((__always_inline__))
#define TUMIT1_JOIN(one_, two_) one_##two_
#define TUMIT1_GUARD(number_) TUMIT1_JOIN(tumit1_guard_, number_)
/* A guard without a name, `TUMIT_SCOPE(TRACE_SPAN_scope(...));`. The span ends with the block. */
#define TUMIT_SCOPE(...) auto TUMIT1_GUARD(__COUNTER__) = __VA_ARGS__
#endif
