/* Sizes of data types, which MPI need not be asked for each time. */

#define SIZE_CACHE 64u

static struct {
    MPI_Datatype type;
    /* size in bytes plus 1; 0: no entry */
    uint64_t size_plus_1;
} sizes[SIZE_CACHE];

/* The size of an element in bytes. A program may use a type that MPI does not know. MPI reports
 * such mistakes when the program uses the type. */
static uint64_t size_of_type(MPI_Datatype type) {
    const unsigned at = (unsigned)mixed(HANDLE_BITS(type), 0) % SIZE_CACHE;
    uint64_t size;
    int bytes = 0;
    lock_tables();
    if (sizes[at].size_plus_1 == 0 || sizes[at].type != type) {
        if (inner.MPI_Type_size(type, &bytes) != MPI_SUCCESS || bytes < 0) {
            bytes = 0;
        }
        sizes[at].type = type;
        sizes[at].size_plus_1 = (uint64_t)bytes + 1;
    }
    size = sizes[at].size_plus_1 - 1;
    unlock_tables();
    return size;
}

/* MPI may use the handle of a freed type again. */
static void forget_types(void) {
    lock_tables();
    memset(sizes, 0, sizeof sizes);
    unlock_tables();
}

static inline uint64_t bytes_of(int64_t count, MPI_Datatype type) {
    return count > 0 ? (uint64_t)count * size_of_type(type) : 0;
}

#define SUMS_OF_BYTES(SUFFIX, COUNT)                                                         \
    static __attribute__((unused)) uint64_t sum_of_bytes##SUFFIX(const COUNT counts[], MPI_Datatype type,      \
                                                                 unsigned processes) {       \
        uint64_t sum = 0;                                                                    \
        unsigned i;                                                                          \
        for (i = 0; i < processes; i++) {                                                    \
            sum += counts[i] > 0 ? (uint64_t)counts[i] : 0;                                  \
        }                                                                                    \
        return sum > 0 ? sum * size_of_type(type) : 0;                                       \
    }                                                                                        \
    static __attribute__((unused)) uint64_t sum_of_types##SUFFIX(                            \
        const COUNT counts[], const MPI_Datatype types[], unsigned processes) {              \
        uint64_t sum = 0;                                                                    \
        unsigned i;                                                                          \
        for (i = 0; i < processes; i++) {                                                    \
            sum += bytes_of((int64_t)counts[i], types[i]);                                   \
        }                                                                                    \
        return sum;                                                                          \
    }
SUMS_OF_BYTES(, int)
SUMS_OF_BYTES(_c, MPI_Count)

static int w_MPI_Type_free(MPI_Datatype *datatype) {
    int result;
    if (!is_recorded()) {
        return inner.MPI_Type_free(datatype);
    }
    tumit_mpi_depth++;
    forget_types();
    tumit_mpi_begin_query(PROCEDURE_MPI_Type_free);
    result = next.MPI_Type_free(datatype);
    tumit_mpi_end_query();
    tumit_mpi_depth--;
    return result;
}
