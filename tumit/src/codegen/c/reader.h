/* The runtime of programs that read, write and print records: the order of its parts. `tumit gen
 * c --reader` replaces each include line by its part, so that programs include one file.
 * `format.h` is generated from the constants of tracer-format. `printable.h` is the table of
 * characters that are printed unescaped.
 *
 * Every name begins with `tumit1r_`. Functions are static, so that several files of one program
 * can include the header, together with the recording one. */

#ifndef TUMIT1R_RUNTIME
#define TUMIT1R_RUNTIME

#include "reader/platform.h"
#include "reader/format.h"
#include "reader/bytes.h"
#include "reader/columns.h"
#include "reader/printable.h"
#include "reader/text.h"
#include "reader/schema.h"
#include "reader/file.h"
#include "reader/process_tables.h"
#include "reader/streams.h"
#include "reader/sorted_file.h"
#include "reader/threads.h"
#include "reader/process.h"
#include "reader/rate.h"
#include "reader/run.h"
#include "reader/read.h"
#include "reader/decode.h"
#include "reader/print.h"
#include "reader/write.h"
#include "reader/encode.h"

#endif /* TUMIT1R_RUNTIME */
