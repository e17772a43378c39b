/* The last records of recorders, before the file of the process ends. */

#ifndef TUMIT_RECORDER_ENDS_H
#define TUMIT_RECORDER_ENDS_H

/* Each function does nothing if its recorder is not attached, or at its second call. */
void tumit_end_counters(void);
void tumit_end_functions(void);
void tumit_end_openmp(void);

#endif
