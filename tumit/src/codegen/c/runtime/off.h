/* ---- TUMIT_OFF: nothing is recorded; what programs may call is still there and does nothing ---- */

TUMIT1_HOT tumit1_date tumit1_now(void) { return 0; }
TUMIT1_HOT int tumit1_set_level(const char *name, int on) {
    (void)name;
    (void)on;
    return 0;
}
TUMIT1_HOT void tumit1_set_thread_name(const char *name) { (void)name; }
TUMIT1_HOT int tumit1_set_clock(uint64_t (*ticks)(void), uint64_t hz, const char *domain) {
    (void)ticks;
    (void)hz;
    (void)domain;
    return 0;
}
TUMIT1_HOT void tumit1_flush(void) {}
#ifdef TUMIT_MPI
TUMIT1_HOT void tumit1_mpi_start(void) {}
TUMIT1_HOT void tumit1_mpi_sync(void) {}
TUMIT1_HOT void tumit1_mpi_finish(void) {}
#endif
