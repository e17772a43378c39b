/* ---- Fork: a child is a process of its own, with a file of its own ---- */

/* Around fork: no other thread may hold the lock when the child gets its copy of it. */
TUMIT1_SLOW void tumit1_before_fork(void) {
    if (!tumit1_cursor.busy) {
        pthread_mutex_lock(&tumit1_lock);
    }
}
TUMIT1_SLOW void tumit1_after_fork(void) {
    if (!tumit1_cursor.busy) {
        pthread_mutex_unlock(&tumit1_lock);
    }
}

/* In the child: what is in the buffers is the parent's to write. The child's first record opens a file of its own. */
TUMIT1_SLOW void tumit1_in_child(void) {
    struct tumit1_session *s = &tumit1_session;
    struct tumit1_cursor *c = &tumit1_cursor;
    struct tumit1_provider *provider;
    pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
    tumit1_lock = fresh;
    if (s->state == TUMIT1_OPEN) {
        close(s->file);
        memcpy(s->parent, s->id, sizeof s->parent);
        s->has_parent = 1;
    }
    while (s->live != NULL) {
        struct tumit1_thread *t = s->live;
        s->live = t->next;
        t->next = s->spare;
        s->spare = t;
    }
    s->state = TUMIT1_CLOSED;
    s->streams = s->threads = 0;
    s->written = s->dropped = 0;
    s->warned = 0;
    s->strings.written = s->sites.written = 0;
    for (provider = s->providers; provider != NULL; provider = provider->next) {
        provider->written = 0;
    }
    memset(c, 0, sizeof *c);
    if (s->keyed) {
        pthread_setspecific(s->key, NULL);
    }
}
