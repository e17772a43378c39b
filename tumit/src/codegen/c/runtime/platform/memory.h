/* ---- Memory of the recorder, which never comes from an allocator ---- */

/* Anonymous memory from the system, because the recorder may be called from inside an allocator.
 * NULL when there is none. */
TUMIT1_SLOW(void *tumit1_map_memory(size_t bytes_)) {
    void *memory_ = mmap(NULL, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory_ == MAP_FAILED ? NULL : memory_;
}

/* Replaces the mapping at `at_` by private memory. Returns 0 or an errno. */
TUMIT1_SLOW(int tumit1_map_private(void *address_, size_t bytes_)) {
    return mmap(address_, bytes_, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED
               ? errno
               : 0;
}

/* A copy in a small piece of memory that is never freed. The caller holds the lock. */
TUMIT1_SLOW(void *tumit1_arena_copy(const void *from_, size_t bytes_)) {
    struct tumit1_session *s_ = &tumit1_session;
    size_t need_ = (bytes_ + 15u) & ~(size_t)15u;
    void *to_;
    if (need_ > s_->arena_left_) {
        size_t chunk_ = need_ > 65536u ? need_ : 65536u;
        unsigned char *memory_ = (unsigned char *)tumit1_map_memory(chunk_);
        if (memory_ == NULL) {
            return NULL;
        }
        s_->arena_ = memory_;
        s_->arena_left_ = chunk_;
    }
    to_ = s_->arena_;
    s_->arena_ += need_;
    s_->arena_left_ -= need_;
    if (from_ != NULL && bytes_ != 0) {
        memcpy(to_, from_, bytes_);
    }
    return to_;
}
