/* The events of peers.tumit for LTTng-UST. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER peers
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./peers_tp.h"
#if !defined(PEERS_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define PEERS_TP_H
#include <lttng/tracepoint.h>
#include <stdint.h>
LTTNG_UST_TRACEPOINT_EVENT(peers, pair, LTTNG_UST_TP_ARGS(uint64_t, first, uint64_t, second),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint64_t, first, first)
                                                   lttng_ust_field_integer(uint64_t, second, second)))
LTTNG_UST_TRACEPOINT_EVENT(peers, step_begin, LTTNG_UST_TP_ARGS(void), LTTNG_UST_TP_FIELDS())
LTTNG_UST_TRACEPOINT_EVENT(peers, step_end, LTTNG_UST_TP_ARGS(void), LTTNG_UST_TP_FIELDS())
#endif
#include <lttng/tracepoint-event.h>
