#include "peers_trace.h"

#define PAIR(a, b) peers_pair(a, b)
#define SPAN() (peers_step_begin(), peers_step_end())
#define FLUSH() tumit1_flush()

#include "loop.h"
