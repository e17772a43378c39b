/* A cache of the sizes of data types. */

#define SIZE_CACHE 64u

static struct {
    MPI_Datatype type;
    /* The size in bytes plus 1. 0 if the element is free. */
    uint64_t size_plus_1;
} sizes[SIZE_CACHE];

/* The size of an element in bytes. 0 if the type is invalid: MPI then reports the mistake when the
 * program uses the type. */
static uint64_t size_of_type(MPI_Datatype type) {
    const unsigned index = (unsigned)hash_words(HANDLE_BITS(type), 0) % SIZE_CACHE;
    uint64_t size;
    int bytes = 0;
    lock_tables();
    if (sizes[index].size_plus_1 == 0 || sizes[index].type != type) {
        if (pmpi.MPI_Type_size(type, &bytes) != MPI_SUCCESS || bytes < 0) {
            bytes = 0;
        }
        sizes[index].type = type;
        sizes[index].size_plus_1 = (uint64_t)bytes + 1;
    }
    size = sizes[index].size_plus_1 - 1;
    unlock_tables();
    return size;
}

/* Empties the cache, because MPI may use the handle of a freed type for another type. */
static void forget_types(void) {
    lock_tables();
    memset(sizes, 0, sizeof sizes);
    unlock_tables();
}

static inline uint64_t bytes_of(int64_t count, MPI_Datatype type) {
    return count > 0 ? (uint64_t)count * size_of_type(type) : 0;
}

#define SUMS_OF_BYTES(SUFFIX, COUNT)                                                                      \
    static __attribute__((unused)) uint64_t sum_of_bytes##SUFFIX(const COUNT counts[], MPI_Datatype type, \
                                                                 unsigned processes) {                    \
        uint64_t sum = 0;                                                                                 \
        unsigned i;                                                                                       \
        for (i = 0; i < processes; i++) {                                                                 \
            sum += counts[i] > 0 ? (uint64_t)counts[i] : 0;                                               \
        }                                                                                                 \
        return sum > 0 ? sum * size_of_type(type) : 0;                                                    \
    }                                                                                                     \
    static __attribute__((unused)) uint64_t sum_of_types##SUFFIX(                                         \
        const COUNT counts[], const MPI_Datatype types[], unsigned processes) {                           \
        uint64_t sum = 0;                                                                                 \
        unsigned i;                                                                                       \
        for (i = 0; i < processes; i++) {                                                                 \
            sum += bytes_of((int64_t)counts[i], types[i]);                                                \
        }                                                                                                 \
        return sum;                                                                                       \
    }
SUMS_OF_BYTES(, int)
SUMS_OF_BYTES(_c, MPI_Count)

static int w_MPI_Type_free(MPI_Datatype *datatype) {
    BEGIN_CALL(query, MPI_Type_free, datatype);
    forget_types();
    error_code = mpi.MPI_Type_free(datatype);
    END_CALL(query);
}
