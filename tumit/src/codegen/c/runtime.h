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

#include "runtime/platform/platform.h"
#include "runtime/format.h"

#ifdef TUMIT_OFF
#include "runtime/platform/bytes.h"
#include "runtime/clock/link.h"
#include "runtime/empty_functions.h"
#else
#include "runtime/interface.h"
#include "runtime/platform/bytes.h"
#include "runtime/clock/link.h"
#include "runtime/extern.h"
#ifndef TUMIT_EXTERN
#include "runtime/state.h"
#include "runtime/platform/locks.h"
#include "runtime/platform/memory.h"
#include "runtime/platform/diagnostics.h"
#include "runtime/spec.h"
#include "runtime/writer/checksum.h"
#include "runtime/writer/lz4.h"
#include "runtime/writer/number_groups.h"
#include "runtime/writer/columns.h"
#include "runtime/clock/clock.h"
#include "runtime/writer/file.h"
#include "runtime/clock/clock_readings.h"
#include "runtime/writer/live_file.h"
#include "runtime/records/pool.h"
#include "runtime/session/levels.h"
#include "runtime/records/names.h"
#include "runtime/session/session.h"
#include "runtime/records/drops.h"
#include "runtime/records/flight_recorder.h"
#include "runtime/writer/seal.h"
#include "runtime/session/control.h"
#include "runtime/writer/writer_thread.h"
#include "runtime/records/handler_detection.h"
#include "runtime/session/end.h"
#include "runtime/records/attach.h"
#include "runtime/records/slow_path.h"
#include "runtime/session/fork.h"
#include "runtime/session/process.h"
#include "runtime/records/self_trace.h"
#endif
#include "runtime/records/record.h"
#include "runtime/clock/clock_sync.h"
#include "runtime/clock/mpi.h"
#endif

#endif /* TUMIT1_RUNTIME */
