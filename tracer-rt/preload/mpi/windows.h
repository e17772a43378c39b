/* One-sided communication: the windows of the program, and their synchronisation. */

#define WINDOW_BUCKETS 64u
/* Characters of the name of a window, with the end. */
#define MAX_WINDOW_NAME (MAX_COMMUNICATOR_NAME + 16)

struct window {
    struct window *next_in_bucket;
    MPI_Win handle;
    /* The name of its communicator, and its position in the order in which all members have created
     * windows from this communicator. Equal in all members. */
    char name[MAX_WINDOW_NAME];
    /* Its members are those of the communicator, in the same order. */
    const struct communicator *communicator;
    /* The ranks in MPI_COMM_WORLD of the targets of the current access epoch, and of the origins of
     * the current exposure epoch. */
    int *targets, *origins;
    unsigned target_count, origin_count;
    /* Numbers of epochs, by the rank of the other process. */
    struct channel_table epochs;
};

static struct window *windows[WINDOW_BUCKETS];

static struct window **window_bucket(MPI_Win handle) {
    return &windows[hash_words(HANDLE_BITS(handle), 3) % WINDOW_BUCKETS];
}

/* The window with this handle, or NULL. The caller holds the lock of the tables. */
static struct window *window_of(MPI_Win handle) {
    struct window *window = *window_bucket(handle);
    while (window != NULL && window->handle != handle) {
        window = window->next_in_bucket;
    }
    return window;
}

/* All members of a communicator have created a window. */
static void add_window(MPI_Comm comm, MPI_Win handle) {
    struct communicator *communicator;
    struct window *window, **bucket = window_bucket(handle);
    lock_tables();
    communicator = communicator_of(comm);
    if (communicator != NULL) {
        window = allocate(sizeof *window);
        window->handle = handle;
        window->communicator = communicator;
        snprintf(window->name, sizeof window->name, "%s/w%u", communicator->name, ++communicator->window_count);
        init_channels(&window->epochs);
        window->next_in_bucket = *bucket;
        *bucket = window;
    }
    unlock_tables();
}

/* The program frees a window. Its communicator stays in memory. */
static void remove_window(MPI_Win handle) {
    struct window **link, *window;
    lock_tables();
    for (link = window_bucket(handle); (window = *link) != NULL; link = &window->next_in_bucket) {
        if (window->handle == handle) {
            *link = window->next_in_bucket;
            free_channels(&window->epochs);
            free(window->targets);
            free(window->origins);
            free(window);
            break;
        }
    }
    unlock_tables();
}

/* The rank of a member of a window in MPI_COMM_WORLD. NO_RANK if there is no target. */
static int target_rank_of(MPI_Win handle, int target) {
    const struct window *window;
    int rank;
    lock_tables();
    window = window_of(handle);
    rank = window == NULL ? NO_RANK : world_rank(window->communicator, target);
    unlock_tables();
    return rank;
}

/* Copies the name of a window, which another thread may free. Empty if the recorder does not know
 * it. */
static void copy_window_name(MPI_Win handle, char name[MAX_WINDOW_NAME]) {
    const struct window *window;
    lock_tables();
    window = window_of(handle);
    snprintf(name, MAX_WINDOW_NAME, "%s", window == NULL ? "" : window->name);
    unlock_tables();
}

static int w_MPI_Win_free(MPI_Win *win) {
    ENTER_CALL(is_recorded(), MPI_Win_free, win);
    tumit_mpi_begin_one_sided(PROCEDURE_MPI_Win_free, TRANSFER_none, NO_RANK, 0);
    remove_window(*win);
    error_code = mpi.MPI_Win_free(win);
    tumit_mpi_end_one_sided(TRANSFER_none, NO_RANK);
    LEAVE_CALL();
}

/* A fence that ends no epoch need not wait for the other members. All members pass
 * MPI_MODE_NOPRECEDE then. */
static int w_MPI_Win_fence(int assert, MPI_Win win) {
    char name[MAX_WINDOW_NAME];
    ENTER_CALL(is_recorded(), MPI_Win_fence, assert, win);
    copy_window_name(win, name);
    tumit_mpi_begin_fence(name, name[0] != '\0' && (assert & MPI_MODE_NOPRECEDE) == 0);
    error_code = mpi.MPI_Win_fence(assert, win);
    tumit_mpi_end_fence();
    LEAVE_CALL();
}

static int w_MPI_Win_lock(int lock_type, int rank, int assert, MPI_Win win) {
    int target;
    char name[MAX_WINDOW_NAME];
    ENTER_CALL(is_recorded(), MPI_Win_lock, lock_type, rank, assert, win);
    copy_window_name(win, name);
    target = target_rank_of(win, rank);
    tumit_mpi_begin_window_lock(name, target);
    error_code = mpi.MPI_Win_lock(lock_type, rank, assert, win);
    tumit_mpi_end_window_lock(name, target);
    LEAVE_CALL();
}

static int w_MPI_Win_unlock(int rank, MPI_Win win) {
    int target;
    char name[MAX_WINDOW_NAME];
    ENTER_CALL(is_recorded(), MPI_Win_unlock, rank, win);
    copy_window_name(win, name);
    target = target_rank_of(win, rank);
    tumit_mpi_begin_window_unlock();
    error_code = mpi.MPI_Win_unlock(rank, win);
    tumit_mpi_end_window_unlock(name, target);
    LEAVE_CALL();
}

/* ---- Epochs of some members: a target exposes its memory to origins ---- */

/* The ranks in MPI_COMM_WORLD of the members of a group. */
static int *ranks_of_group(MPI_Group group, unsigned *count) {
    int size = 0, *ranks;
    pmpi.MPI_Group_size(group, &size);
    *count = size > 0 ? (unsigned)size : 0;
    ranks = allocate(*count * sizeof *ranks);
    translate_ranks(group, *count, ranks);
    return ranks;
}

static int w_MPI_Win_start(MPI_Group group, int assert, MPI_Win win) {
    struct window *window;
    ENTER_CALL(is_recorded(), MPI_Win_start, group, assert, win);
    tumit_mpi_begin_one_sided(PROCEDURE_MPI_Win_start, TRANSFER_none, NO_RANK, 0);
    lock_tables();
    window = window_of(win);
    if (window != NULL) {
        free(window->targets);
        window->targets = ranks_of_group(group, &window->target_count);
    }
    unlock_tables();
    error_code = mpi.MPI_Win_start(group, assert, win);
    tumit_mpi_end_one_sided(TRANSFER_none, NO_RANK);
    LEAVE_CALL();
}

static int w_MPI_Win_post(MPI_Group group, int assert, MPI_Win win) {
    struct window *window;
    ENTER_CALL(is_recorded(), MPI_Win_post, group, assert, win);
    tumit_mpi_begin_one_sided(PROCEDURE_MPI_Win_post, TRANSFER_none, NO_RANK, 0);
    lock_tables();
    window = window_of(win);
    if (window != NULL) {
        free(window->origins);
        window->origins = ranks_of_group(group, &window->origin_count);
    }
    unlock_tables();
    error_code = mpi.MPI_Win_post(group, assert, win);
    tumit_mpi_end_one_sided(TRANSFER_none, NO_RANK);
    LEAVE_CALL();
}

/* The access epoch of this process ends. The targets cannot end theirs earlier. */
static int w_MPI_Win_complete(MPI_Win win) {
    struct window *window;
    unsigned i;
    ENTER_CALL(is_recorded(), MPI_Win_complete, win);
    tumit_mpi_begin_one_sided(PROCEDURE_MPI_Win_complete, TRANSFER_none, NO_RANK, 0);
    lock_tables();
    window = window_of(win);
    for (i = 0; window != NULL && i < window->target_count; i++) {
        if (window->targets[i] != NO_RANK) {
            tumit_mpi_record_end_access(window->name, window->targets[i],
                                        channel_of(&window->epochs, window->targets[i], 0)->sent++);
        }
    }
    if (window != NULL) {
        window->target_count = 0;
    }
    unlock_tables();
    error_code = mpi.MPI_Win_complete(win);
    tumit_mpi_end_one_sided(TRANSFER_none, NO_RANK);
    LEAVE_CALL();
}

/* All origins have ended their access epochs. */
static void end_exposure(MPI_Win win) {
    struct window *window;
    unsigned i;
    lock_tables();
    window = window_of(win);
    for (i = 0; window != NULL && i < window->origin_count; i++) {
        if (window->origins[i] != NO_RANK) {
            tumit_mpi_record_end_exposure(window->name, window->origins[i],
                                          channel_of(&window->epochs, window->origins[i], 0)->received++);
        }
    }
    if (window != NULL) {
        window->origin_count = 0;
    }
    unlock_tables();
}

static int w_MPI_Win_wait(MPI_Win win) {
    ENTER_CALL(is_recorded(), MPI_Win_wait, win);
    tumit_mpi_begin_one_sided(PROCEDURE_MPI_Win_wait, TRANSFER_none, NO_RANK, 0);
    error_code = mpi.MPI_Win_wait(win);
    if (error_code == MPI_SUCCESS) {
        end_exposure(win);
    }
    tumit_mpi_end_one_sided(TRANSFER_none, NO_RANK);
    LEAVE_CALL();
}

static int w_MPI_Win_test(MPI_Win win, int *flag) {
    tumit_mpi_date call_start;
    ENTER_CALL(is_recorded(), MPI_Win_test, win, flag);
    call_start = tumit_mpi_now();
    error_code = mpi.MPI_Win_test(win, flag);
    if (error_code == MPI_SUCCESS && *flag) {
        end_exposure(win);
    }
    record_test(TEST_OF_WINDOW, PROCEDURE_MPI_Win_test, *flag, call_start);
    LEAVE_CALL();
}
