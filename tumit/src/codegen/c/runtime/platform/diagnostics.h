/* ---- Messages of the recorder ---- */

/* Reports a text that cannot be parsed, with a hint. `bytes_` limits the printed text. -1 prints
 * all of it. */
TUMIT1_SLOW(void tumit1_report_invalid(const char *where_, const char *text_, int bytes_,
                                       const char *hint_)) {
    fprintf(stderr, "tumit: %s: `%.*s` is not valid: write %s\n", where_, bytes_, text_, hint_);
}

/* Reports once per process why a trace is incomplete. */
TUMIT1_SLOW(void tumit1_warn(const char *what_, const char *path_, int error_)) {
    if (!tumit1_session.warned_) {
        tumit1_session.warned_ = 1;
        fprintf(stderr,
                "tumit: %s %s: %s; the program continues, and dropped records are counted\n", what_,
                path_, strerror(error_));
    }
}
