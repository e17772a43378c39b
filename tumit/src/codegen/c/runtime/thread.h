/* ---- Birth and death of a thread's buffer, and the slow path of its records ---- */

/* Makes `c` write from the start of the thread's block again; first the account of what is missing. Under the lock. */
TUMIT1_SLOW void tumit1_restart(struct tumit1_thread *t, struct tumit1_cursor *c) {
    uint64_t now = tumit1_now_slow();
    unsigned char *p = t->start;
    if (t->ticks > now) {
        now = t->ticks; /* dates of a stream never run backwards */
    }
    t->done = p;
    t->ticks = now;
    c->last = now;
    if (t->lost.count != 0) {
        p = tumit1_put_lost(t, p);
    }
    c->end = t->start + t->size - TUMIT1_WIDE_BYTES;
    __atomic_store_n(&c->at, p, __ATOMIC_RELEASE);
}

/* Gives the buffer back. Under the lock. */
TUMIT1_SLOW void tumit1_release(struct tumit1_thread *t) {
    struct tumit1_session *s = &tumit1_session;
    struct tumit1_thread **link = &s->live;
    while (*link != NULL && *link != t) {
        link = &(*link)->next;
    }
    if (*link == t) {
        *link = t->next;
        s->threads--;
    }
    s->dropped += t->dropped;
    t->next = s->spare;
    s->spare = t;
}

/* A thread ends: its last records go to the file. Records of later destructors begin a new stream. */
TUMIT1_SLOW void tumit1_retire(void *thread) {
    struct tumit1_thread *t = (struct tumit1_thread *)thread;
    struct tumit1_cursor *c = &tumit1_cursor;
    uint32_t busy;
    if (t == NULL || c->thread != t || c->busy) {
        return;
    }
    busy = tumit1_lock_all();
    tumit1_seal(t, 1);
    tumit1_seal_lost(t);
    tumit1_release(t);
    c->at = c->end = NULL;
    c->thread = NULL;
    tumit1_unlock(busy);
}

/* With the first record of a process. */
TUMIT1_SLOW void tumit1_install_hooks(void) {
    struct tumit1_session *s = &tumit1_session;
    if (!s->hooks) {
        s->hooks = pthread_atfork(tumit1_before_fork, tumit1_after_fork, tumit1_in_child) == 0;
    }
    if (!s->keyed) {
        s->keyed = pthread_key_create(&s->key, tumit1_retire) == 0;
    }
}

/* A buffer of the size that the number of threads allows: a spare one, or new memory. Under the lock. */
TUMIT1_SLOW struct tumit1_thread *tumit1_new_buffer(void) {
    struct tumit1_session *s = &tumit1_session;
    uint32_t size = s->threads < TUMIT1_MANY_THREADS ? TUMIT1_BLOCK : TUMIT1_SMALL_BLOCK;
    struct tumit1_thread *t = s->spare;
    unsigned char *memory;
    if (t != NULL) {
        s->spare = t->next;
        memory = t->start;
        size = t->size;
    } else {
        size_t head = (sizeof *t + 63u) & ~(size_t)63u;
        if (s->threads >= TUMIT1_MAX_THREADS) {
            return NULL;
        }
        t = (struct tumit1_thread *)tumit1_map(head + 2 * (size_t)size + TUMIT1_HEADER_BYTES + 64u);
        if (t == NULL) {
            return NULL;
        }
        memory = (unsigned char *)t + head;
    }
    memset(t, 0, sizeof *t);
    t->start = memory;
    t->size = size;
    t->packed = memory + size;
    return t;
}

/* The first record of a thread: opens the file if need be, and makes a stream. Under the lock. */
TUMIT1_SLOW struct tumit1_thread *tumit1_attach(struct tumit1_cursor *c) {
    struct tumit1_session *s = &tumit1_session;
    struct tumit1_thread *t;
    if (s->state == TUMIT1_CLOSED) {
        tumit1_open();
        if (s->state == TUMIT1_OPEN) {
            (void)tumit1_append_schemas(); /* what comes later explains itself even if the program is killed */
        }
    }
    t = NULL;
    if (s->state == TUMIT1_OPEN) {
        tumit1_install_hooks();
        t = tumit1_new_buffer();
    }
    if (t == NULL) {
        s->dropped++;
        return NULL;
    }
    t->stream = s->streams++;
    t->tid = (uint64_t)syscall(SYS_gettid);
    if (c->name[0] == '\0') {
        char program[48];
        tumit1_read_line("/proc/self/comm", program, sizeof program);
        if (t->tid == (uint64_t)getpid()) {
            memcpy(c->name, "main", 5);
        } else if (prctl(PR_GET_NAME, c->name) != 0 || strcmp(c->name, program) == 0) {
            c->name[0] = '\0'; /* the program's name is no name of a thread */
        }
    }
    memcpy(t->name, c->name, sizeof t->name);
    t->cursor = c;
    t->next = s->live;
    s->live = t;
    s->threads++;
    c->thread = t;
    if (s->keyed) {
        pthread_setspecific(s->key, t);
    }
    return t;
}

/* A record that finds no room: seals the block and begins it again. Returns where to write, or NULL (dropped, counted). */
TUMIT1_SLOW unsigned char *tumit1_make_room(size_t bytes) {
    struct tumit1_cursor *c = &tumit1_cursor;
    struct tumit1_thread *t = c->thread;
    unsigned char *p = NULL;
    pthread_mutex_lock(&tumit1_lock);
    if (t == NULL) {
        t = tumit1_attach(c);
        if (t != NULL) {
            tumit1_restart(t, c);
        }
    } else if (bytes <= t->size - TUMIT1_WIDE_BYTES - TUMIT1_LOST_BYTES && tumit1_session.state == TUMIT1_OPEN) {
        tumit1_seal(t, 1);
        tumit1_restart(t, c);
    }
    if (t != NULL) {
        if (tumit1_session.state == TUMIT1_ENDED) {
            tumit1_session.dropped++;
        } else if ((size_t)(c->end - c->at) < bytes) {
            uint64_t now = tumit1_now_slow();
            tumit1_lose(t, 1, bytes, now, now, TUMIT1_CAUSE_OVERSIZE);
        } else {
            p = c->at;
        }
    }
    pthread_mutex_unlock(&tumit1_lock);
    return p;
}

/* A date that a delta cannot tell: writes a wide date, or takes the last date for a clock that ran backwards. */
TUMIT1_SLOW unsigned char *tumit1_wide_date(unsigned char *p, uint64_t now) {
    struct tumit1_cursor *c = &tumit1_cursor;
    if (now > c->last) {
        p = tumit1_put_u16(p, TUMIT1_ID_WIDE_DATE);
        p = tumit1_put_u32(p, 0);
        p = tumit1_put_u64(p, now);
        c->last = now;
    }
    return p;
}

/* Names the calling thread in the trace. */
TUMIT1_SLOW void tumit1_set_thread_name(const char *name) {
    struct tumit1_cursor *c = &tumit1_cursor;
    uint32_t busy = tumit1_lock_all();
    snprintf(c->name, sizeof c->name, "%s", name);
    if (c->thread != NULL) {
        memcpy(c->thread->name, c->name, sizeof c->thread->name);
        c->thread->described = 0; /* told again before its next block */
    }
    tumit1_unlock(busy);
}

/* Writes what all threads recorded until now. The end of the program does so by itself. */
TUMIT1_SLOW void tumit1_flush(void) {
    if (!tumit1_cursor.busy) {
        uint32_t busy = tumit1_lock_all();
        tumit1_seal_all();
        tumit1_unlock(busy);
    }
}
