// Counts the MPI calls of a program, its messages and their bytes: the library of `mpi_counts.py`.
//
// It is independent of the recorder. Each rank writes its counts into the file MPI_COUNTS/RANK.
// `procedures.inc` has a line `PROCEDURE(MPI_Send, mpi_send)` for each procedure. Every wrapper
// passes on sixteen words, which is more than any procedure has.
#include <dlfcn.h>
#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <string>

namespace {

using Function = long (*)(long, long, long, long, long, long, long, long, long, long, long, long, long, long, long, long);

struct Count {
    long calls, messages, bytes;
};

std::map<std::string, Count> counts;
std::mutex mutex;
// Procedures that call others are counted, the inner calls are not.
thread_local int depth;

const std::set<std::string> sends = {"MPI_Send",  "MPI_Bsend",  "MPI_Ssend",  "MPI_Rsend",    "MPI_Isend",
                                     "MPI_Ibsend", "MPI_Issend", "MPI_Irsend", "MPI_Sendrecv", "MPI_Sendrecv_replace"};
const std::set<std::string> transfers = {"MPI_Put",  "MPI_Get",        "MPI_Accumulate", "MPI_Rput",
                                         "MPI_Rget", "MPI_Raccumulate"};
const std::set<std::string> reductions = {"MPI_Reduce", "MPI_Allreduce", "MPI_Scan", "MPI_Exscan"};
// Position of the result of a test: a flag or a number of completed requests.
const std::map<std::string, int> test_results = {{"MPI_Test", 1},    {"MPI_Testall", 2}, {"MPI_Testany", 3},
                                                 {"MPI_Testsome", 2}, {"MPI_Iprobe", 3},  {"MPI_Improbe", 3},
                                                 {"MPI_Win_test", 1}, {"MPI_Parrived", 2}};

// The arguments of a call. Those of Fortran are addresses.
struct Arguments {
    const long *words;
    bool is_fortran, has_large_counts;

    long count(int position) const {
        if (is_fortran) {
            return integer(position);
        }
        return has_large_counts ? words[position] : static_cast<int>(words[position]);
    }
    int integer(int position) const {
        return is_fortran ? *reinterpret_cast<int *>(words[position]) : static_cast<int>(words[position]);
    }
    long counts_sum(int position, int size) const {
        long sum = 0;
        for (int i = 0; i < size; i++) {
            sum += has_large_counts ? reinterpret_cast<long *>(words[position])[i]
                                    : reinterpret_cast<int *>(words[position])[i];
        }
        return sum;
    }
    // The recorder records the inquiries of this library, so they are counted.
    long type_bytes(int position) const {
        MPI_Datatype type = is_fortran ? MPI_Type_f2c(integer(position)) : (MPI_Datatype)words[position];
        int bytes = 0;
        counts["MPI_Type_size"].calls++;
        PMPI_Type_size(type, &bytes);
        return bytes;
    }
    int ranks(int position) const {
        MPI_Comm comm = is_fortran ? MPI_Comm_f2c(integer(position)) : (MPI_Comm)words[position];
        int size = 0;
        counts["MPI_Comm_size"].calls++;
        PMPI_Comm_size(comm, &size);
        return size;
    }
    bool is_root(int root_position, int comm_position) const {
        MPI_Comm comm = is_fortran ? MPI_Comm_f2c(integer(comm_position)) : (MPI_Comm)words[comm_position];
        int rank = 0;
        counts["MPI_Comm_rank"].calls++;
        PMPI_Comm_rank(comm, &rank);
        return rank == integer(root_position);
    }
    bool is_in_place() const { return !is_fortran && reinterpret_cast<void *>(words[0]) == MPI_IN_PLACE; }
};

// The bytes that a process sends in a blocking collective operation, or else those that it receives.
long collective_bytes(const std::string &name, const Arguments &arguments) {
    if (name == "MPI_Bcast") {
        return arguments.count(1) * arguments.type_bytes(2);
    }
    if (reductions.count(name) != 0) {
        return arguments.count(2) * arguments.type_bytes(3);
    }
    if (name == "MPI_Gather" || name == "MPI_Allgather") {
        const int position = arguments.is_in_place() ? 4 : 1;
        return arguments.count(position) * arguments.type_bytes(position + 1);
    }
    if ((name == "MPI_Gatherv" || name == "MPI_Allgatherv") && !arguments.is_in_place()) {
        return arguments.count(1) * arguments.type_bytes(2);
    }
    if (name == "MPI_Scatter") {
        return arguments.is_root(6, 7) ? arguments.count(1) * arguments.type_bytes(2) * arguments.ranks(7)
                                       : arguments.count(4) * arguments.type_bytes(5);
    }
    if (name == "MPI_Scatterv") {
        return arguments.is_root(7, 8) ? arguments.counts_sum(1, arguments.ranks(8)) * arguments.type_bytes(3)
                                       : arguments.count(5) * arguments.type_bytes(6);
    }
    if (name == "MPI_Alltoall") {
        const int position = arguments.is_in_place() ? 4 : 1;
        return arguments.count(position) * arguments.type_bytes(position + 1) * arguments.ranks(6);
    }
    if (name == "MPI_Alltoallv") {
        const int position = arguments.is_in_place() ? 5 : 1;
        return arguments.counts_sum(position, arguments.ranks(8)) * arguments.type_bytes(position + 2);
    }
    return 0;
}

// Adds the messages and the bytes of a call. `name` has no suffix of large counts.
void add_data(Count &count, const std::string &name, const Arguments &arguments) {
    if (sends.count(name) != 0) {
        if (arguments.integer(3) != MPI_PROC_NULL) {
            count.messages++;
            count.bytes += arguments.count(1) * arguments.type_bytes(2);
        }
    } else if (transfers.count(name) != 0) {
        count.bytes += arguments.count(1) * arguments.type_bytes(2);
    } else {
        count.bytes += collective_bytes(name, arguments);
    }
}

void write_counts() {
    const char *folder = getenv("MPI_COUNTS");
    int rank = 0;
    counts["MPI_Comm_rank"].calls++;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const std::string path = std::string(folder == nullptr ? "." : folder) + "/" + std::to_string(rank);
    FILE *file = fopen(path.c_str(), "w");
    if (file == nullptr) {
        perror(path.c_str());
        abort();
    }
    for (const auto &[name, count] : counts) {
        fprintf(file, "%s %ld %ld %ld\n", name.c_str(), count.calls, count.messages, count.bytes);
    }
    fclose(file);
}

long call(Function function, const long *a) {
    return function(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13], a[14],
                    a[15]);
}

long counted_call(const char *procedure, Function function, const long *words, bool is_fortran) {
    if (depth > 0) {
        return call(function, words);
    }
    const std::string full_name = procedure;
    const bool is_large = full_name.size() > 2 && full_name.compare(full_name.size() - 2, 2, "_c") == 0;
    const std::string name = is_large ? full_name.substr(0, full_name.size() - 2) : full_name;
    const Arguments arguments = {words, is_fortran, is_large};
    depth++;
    {
        const std::lock_guard<std::mutex> guard(mutex);
        add_data(counts[full_name], name, arguments);
        if (name == "MPI_Finalize") {
            counts[full_name].calls++;
            write_counts();
        }
    }
    const long result = call(function, words);
    const std::lock_guard<std::mutex> guard(mutex);
    const auto test = test_results.find(name);
    const bool is_unsuccessful = test != test_results.end() && *reinterpret_cast<int *>(words[test->second]) == 0;
    counts[is_unsuccessful ? "unsuccessful" : full_name].calls++;
    depth--;
    return result;
}

Function next_function(const char *symbol) {
    void *function = dlsym(RTLD_NEXT, symbol);
    if (function == nullptr) {
        fprintf(stderr, "mpi_counts: MPI has no %s\n", symbol);
        abort();
    }
    return reinterpret_cast<Function>(function);
}

} // namespace

#define WORDS                                                                                                      \
    long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k, long l, long m, long n, \
        long o, long p
#define WRAPPER(procedure, function, symbol, is_fortran)                                       \
    extern "C" __attribute__((visibility("default"))) long function(WORDS) __asm__(symbol);    \
    long function(WORDS) {                                                                     \
        static const Function next = next_function(symbol);                                    \
        const long words[] = {a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p};                 \
        return counted_call(#procedure, next, words, is_fortran);                              \
    }
// The bindings of Fortran 2008 have other symbols in Open MPI (f08) than in MPICH (f08ts).
#define PROCEDURE(procedure, fortran)                                          \
    WRAPPER(procedure, count_##procedure, #procedure, false)                   \
    WRAPPER(procedure, count_##fortran, #fortran "_", true)                    \
    WRAPPER(procedure, count_##fortran##_f08, #fortran "_f08_", true)          \
    WRAPPER(procedure, count_##fortran##_f08ts, #fortran "_f08ts_", true)
#include "procedures.inc"
