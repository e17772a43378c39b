/* The start and the end of MPI, and samples of the clocks of all processes. */

/* The communicator of the recorder, for samples of clocks. */
static MPI_Comm sync_comm;
static int world_rank_of_process, world_size;

static int send_sample(void *user, uint32_t peer, const void *message) {
    (void)user;
    return inner.MPI_Send(message, SAMPLE_BYTES, MPI_BYTE, (int)peer, 1, sync_comm) == MPI_SUCCESS ? 0 : EIO;
}

static int receive_sample(void *user, uint32_t peer, void *message) {
    (void)user;
    return inner.MPI_Recv(message, SAMPLE_BYTES, MPI_BYTE, (int)peer, 1, sync_comm, MPI_STATUS_IGNORE) == MPI_SUCCESS
               ? 0
               : EIO;
}

static void start_job(int thread_level) {
    has_threads = thread_level == MPI_THREAD_MULTIPLE;
    has_world = inner.MPI_Comm_group(MPI_COMM_WORLD, &world_group) == MPI_SUCCESS;
    inner.MPI_Comm_rank(MPI_COMM_WORLD, &world_rank_of_process);
    inner.MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    tumit_mpi_set_rank(world_rank_of_process, world_size);
    lock_tables();
    new_communicator(MPI_COMM_WORLD, "MPI_COMM_WORLD");
    new_communicator(MPI_COMM_SELF, "MPI_COMM_SELF");
    unlock_tables();
    inner.MPI_Comm_dup(MPI_COMM_WORLD, &sync_comm);
    tumit_mpi_take_samples(world_rank_of_process, world_size, send_sample, receive_sample);
    is_active = 1;
}

/* Begins the span of the initialisation if the launcher gives the rank of this process by a
 * variable. Otherwise the rank is known after the call, so the span is empty. */
static int begin_initialisation(int procedure) {
    if (!tumit_mpi_knows_rank()) {
        return 0;
    }
    tumit_mpi_begin_job(procedure);
    return 1;
}

static void end_initialisation(int procedure, int is_begun) {
    if (!is_begun) {
        tumit_mpi_begin_job(procedure);
    }
    tumit_mpi_end_job();
}

static int w_MPI_Init(int *argc, char ***argv) {
    int result, is_begun;
    if (tumit_mpi_depth != 0) {
        return inner.MPI_Init(argc, argv);
    }
    tumit_mpi_depth++;
    is_begun = begin_initialisation(PROCEDURE_MPI_Init);
    result = next.MPI_Init(argc, argv);
    if (result == MPI_SUCCESS) {
        start_job(0);
        end_initialisation(PROCEDURE_MPI_Init, is_begun);
    }
    tumit_mpi_depth--;
    return result;
}

static int w_MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
    int result, is_begun;
    if (tumit_mpi_depth != 0) {
        return inner.MPI_Init_thread(argc, argv, required, provided);
    }
    tumit_mpi_depth++;
    is_begun = begin_initialisation(PROCEDURE_MPI_Init_thread);
    result = next.MPI_Init_thread(argc, argv, required, provided);
    if (result == MPI_SUCCESS) {
        start_job(*provided);
        end_initialisation(PROCEDURE_MPI_Init_thread, is_begun);
    }
    tumit_mpi_depth--;
    return result;
}

static int w_MPI_Finalize(void) {
    int result;
    if (!is_recorded()) {
        return inner.MPI_Finalize();
    }
    tumit_mpi_depth++;
    tumit_mpi_take_samples(world_rank_of_process, world_size, send_sample, receive_sample);
    is_active = 0;
    inner.MPI_Comm_free(&sync_comm);
    if (has_world) {
        inner.MPI_Group_free(&world_group);
    }
    tumit_mpi_begin_job(PROCEDURE_MPI_Finalize);
    result = next.MPI_Finalize();
    tumit_mpi_end_job();
    tumit_mpi_depth--;
    return result;
}

static int w_MPI_Abort(MPI_Comm comm, int errorcode) {
    int result;
    if (!is_recorded()) {
        return inner.MPI_Abort(comm, errorcode);
    }
    tumit_mpi_depth++;
    tumit_mpi_begin_job(PROCEDURE_MPI_Abort);
    tumit_mpi_flush();
    result = next.MPI_Abort(comm, errorcode);
    tumit_mpi_end_job();
    tumit_mpi_depth--;
    return result;
}

/* Programs with sessions have no MPI_COMM_WORLD, unless they also call MPI_Init. */
static int w_MPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session) {
    int result;
    if (tumit_mpi_depth != 0) {
        return inner.MPI_Session_init(info, errhandler, session);
    }
    tumit_mpi_depth++;
    tumit_mpi_begin_job(PROCEDURE_MPI_Session_init);
    result = next.MPI_Session_init(info, errhandler, session);
    tumit_mpi_end_job();
    has_threads = 1;
    is_active = result == MPI_SUCCESS || is_active;
    tumit_mpi_depth--;
    return result;
}

static int w_MPI_Session_finalize(MPI_Session *session) {
    int result;
    if (!is_recorded()) {
        return inner.MPI_Session_finalize(session);
    }
    tumit_mpi_depth++;
    tumit_mpi_begin_job(PROCEDURE_MPI_Session_finalize);
    result = next.MPI_Session_finalize(session);
    tumit_mpi_end_job();
    tumit_mpi_depth--;
    return result;
}

/* Level 0 stops recording, and all other levels continue it. */
static int w_MPI_Pcontrol(const int level, ...) {
    if (tumit_mpi_depth == 0) {
        if (level == 0) {
            tumit_mpi_pause();
        } else {
            tumit_mpi_resume();
        }
    }
    return inner.MPI_Pcontrol(level);
}
