#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "peers_tp.h"

#define PAIR(a, b) lttng_ust_tracepoint(peers, pair, a, b)
#define SPAN() \
    do { \
        lttng_ust_tracepoint(peers, step_begin); \
        lttng_ust_tracepoint(peers, step_end); \
    } while (0)
#define FLUSH() ((void)0)

#include "loop.h"
