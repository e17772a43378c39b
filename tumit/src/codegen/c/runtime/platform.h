/* ---- What the compiler and the system must offer ---- */

#if !defined __GNUC__
#error "tumit: this header needs GCC, Clang or a compiler that understands their attributes"
#endif
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "tumit: the run format is little-endian, and this header copies integers as they are"
#endif
#if defined __STRICT_ANSI__ && !defined _FEATURES_H && !defined _GNU_SOURCE && !defined _DEFAULT_SOURCE
#define _DEFAULT_SOURCE 1
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined __STRICT_ANSI__ && defined __GLIBC__ && !defined __USE_MISC
#error "tumit: with -std=c99, compile with -D_GNU_SOURCE, or include this header before any other (or use -std=gnu99)"
#define TUMIT_OFF /* spares a flood of errors that follow from this one */
#endif

#if defined __cplusplus
#define TUMIT1_EXTERN_C extern "C"
#define TUMIT1_BEGIN_DECLS extern "C" {
#define TUMIT1_END_DECLS }
#else
#define TUMIT1_EXTERN_C extern
#define TUMIT1_BEGIN_DECLS
#define TUMIT1_END_DECLS
#endif

/* One copy per program: the linker keeps the first and drops the others. */
#define TUMIT1_WEAK __attribute__((weak))
#define TUMIT1_SLOW __attribute__((weak, noinline)) /* not `cold`: compilers would take its callers for cold, too */
#define TUMIT1_HOT __attribute__((always_inline, unused)) static inline
#define TUMIT1_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define TUMIT1_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

/* A date: ticks of this process's clock, from tumit1_now(). */
typedef uint64_t tumit1_date;
/* A place in the source. */
struct tumit1_site {
    const char *file;
    uint32_t line;
    uint32_t id; /* 0 until it was first used */
};
