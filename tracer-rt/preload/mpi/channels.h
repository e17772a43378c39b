/* Channels: the messages of one communicator between two processes with one tag. */

#define FIRST_CHANNEL_BUCKETS 16u

struct receive;

/* Receives in a binary heap: the one that the program posted first is `receives[0]`. */
struct receive_heap {
    struct receive **receives;
    unsigned count, capacity;
};

enum heap_kind {
    /* Receives of this channel that have no number yet. */
    WAITING,
    /* Receives of other channels that have to wait for receives of this one. Only of channels with
     * a wildcard. */
    BLOCKED,
    HEAP_KINDS
};

/* The messages between this process and another one with one tag. If `peer` or `tag` is a wildcard,
 * the channel contains the receives that were posted with this wildcard. */
struct channel {
    struct channel *next;
    int peer, tag;
    /* Numbers of the next messages. */
    uint32_t sent, received;
    struct receive_heap heaps[HEAP_KINDS];
};

/* The channels of a communicator, by peer and tag. */
struct channel_table {
    struct channel **buckets;
    /* The number of buckets is a power of two. */
    unsigned bucket_count, count;
    /* The results of the last searches, of channels without and with wildcards. */
    struct channel *last_channel, *last_wildcard_channel;
    /* Receives that have no number yet, in all channels. */
    unsigned waiting_count;
    /* Number of receives that were posted while others had no number. */
    uint64_t posted;
};

static void init_channels(struct channel_table *table) {
    table->bucket_count = FIRST_CHANNEL_BUCKETS;
    table->buckets = allocate(table->bucket_count * sizeof *table->buckets);
}

static struct channel **channel_bucket(const struct channel_table *table, int peer, int tag) {
    return &table->buckets[hash_words((uint64_t)(uint32_t)peer, (uint64_t)(uint32_t)tag) & (table->bucket_count - 1)];
}

static void grow_channels(struct channel_table *table) {
    struct channel_table grown = *table;
    unsigned i;
    grown.bucket_count = table->bucket_count * 4;
    grown.buckets = allocate(grown.bucket_count * sizeof *grown.buckets);
    for (i = 0; i < table->bucket_count; i++) {
        struct channel *channel = table->buckets[i];
        while (channel != NULL) {
            struct channel *following = channel->next;
            struct channel **bucket = channel_bucket(&grown, channel->peer, channel->tag);
            channel->next = *bucket;
            *bucket = channel;
            channel = following;
        }
    }
    free(table->buckets);
    *table = grown;
}

/* The channel with this peer and tag, or NULL. */
static struct channel *find_channel(const struct channel_table *table, int peer, int tag) {
    struct channel *channel = *channel_bucket(table, peer, tag);
    while (channel != NULL && (channel->peer != peer || channel->tag != tag)) {
        channel = channel->next;
    }
    return channel;
}

/* The channel with this peer and tag. Adds it if there is none. */
static struct channel *find_or_add_channel(struct channel_table *table, int peer, int tag) {
    struct channel *channel = find_channel(table, peer, tag), **bucket;
    if (channel == NULL) {
        if (table->count++ >= table->bucket_count * 2) {
            grow_channels(table);
        }
        bucket = channel_bucket(table, peer, tag);
        channel = allocate(sizeof *channel);
        channel->peer = peer;
        channel->tag = tag;
        channel->next = *bucket;
        *bucket = channel;
    }
    return channel;
}

static inline int is_channel(const struct channel *channel, int peer, int tag) {
    return channel != NULL && channel->peer == peer && channel->tag == tag;
}

/* The channel with this peer and tag, which are no wildcards. */
static inline struct channel *channel_of(struct channel_table *table, int peer, int tag) {
    if (!is_channel(table->last_channel, peer, tag)) {
        table->last_channel = find_or_add_channel(table, peer, tag);
    }
    return table->last_channel;
}

/* The channel of receives with this peer and tag, of which at least one is a wildcard. */
static inline struct channel *wildcard_channel_of(struct channel_table *table, int peer, int tag) {
    if (!is_channel(table->last_wildcard_channel, peer, tag)) {
        table->last_wildcard_channel = find_or_add_channel(table, peer, tag);
    }
    return table->last_wildcard_channel;
}

/* Frees the channels of a table without receives. */
static void free_channels(struct channel_table *table) {
    unsigned i;
    for (i = 0; i < table->bucket_count; i++) {
        struct channel *channel = table->buckets[i];
        while (channel != NULL) {
            struct channel *following = channel->next;
            free(channel);
            channel = following;
        }
    }
    free(table->buckets);
}
