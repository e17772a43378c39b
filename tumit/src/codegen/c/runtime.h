/* The runtime of traced C and C++ programs: the order of its parts. `tumit gen c` replaces each
 * include line by its part, so that programs include one file. `format.h` is generated from the
 * constants of tracer-format.
 *
 * Every global name begins with `tumit1_` or `TUMIT`, and every other name ends with `_`,
 * because a program can have macros and globals of any name before it includes the header.
 * Functions and data are weak symbols, so that all translation units of a program, and the
 * libraries linked with it, share one recorder. */

#ifndef TUMIT1_RUNTIME
#define TUMIT1_RUNTIME

#include "runtime/platform.h"
#include "runtime/format.h"

#ifdef TUMIT_OFF
#include "runtime/bytes.h"
#include "runtime/link.h"
#include "runtime/disabled.h"
#else
#include "runtime/interface.h"
#include "runtime/bytes.h"
#include "runtime/link.h"
#include "runtime/extern.h"
#ifndef TUMIT_EXTERN
#include "runtime/state.h"
#include "runtime/locks.h"
#include "runtime/memory.h"
#include "runtime/diagnostics.h"
#include "runtime/spec.h"
#include "runtime/checksum.h"
#include "runtime/lz4.h"
#include "runtime/number_groups.h"
#include "runtime/columns.h"
#include "runtime/clock.h"
#include "runtime/file.h"
#include "runtime/clock_readings.h"
#include "runtime/live_file.h"
#include "runtime/pool.h"
#include "runtime/levels.h"
#include "runtime/names.h"
#include "runtime/session.h"
#include "runtime/drops.h"
#include "runtime/flight_recorder.h"
#include "runtime/seal.h"
#include "runtime/control.h"
#include "runtime/writer_thread.h"
#include "runtime/handler_detection.h"
#include "runtime/end.h"
#include "runtime/attach.h"
#include "runtime/slow_path.h"
#include "runtime/fork.h"
#include "runtime/process.h"
#include "runtime/self_trace.h"
#endif
#include "runtime/record.h"
#include "runtime/clock_sync.h"
#include "runtime/mpi.h"
#endif

#endif /* TUMIT1_RUNTIME */
