/* The runtime of programs that read, write and print records: the order of its parts. `tumit gen c --reader` copies each
 * part in place of its include line (`format.h` is made from the constants of tracer-format, `shown.h` from a table), so
 * that what a program includes is one file. Every name begins with `tumit1r_`; functions are static, so that the header
 * can stand in several files of one program, and beside the one that records. */

#ifndef TUMIT1R_RUNTIME
#define TUMIT1R_RUNTIME

#include "reader/platform.h"
#include "reader/format.h"
#include "reader/bytes.h"
#include "reader/columns.h"
#include "reader/shown.h"
#include "reader/text.h"
#include "reader/schema.h"
#include "reader/file.h"
#include "reader/tables.h"
#include "reader/streams.h"
#include "reader/parts.h"
#include "reader/threads.h"
#include "reader/process.h"
#include "reader/run.h"
#include "reader/read.h"
#include "reader/own.h"
#include "reader/print.h"
#include "reader/write.h"
#include "reader/put.h"

#endif /* TUMIT1R_RUNTIME */
