/* The start and the end of MPI, and samples of the clocks of all processes. */

/* The communicator of the recorder, for samples of clocks. */
static MPI_Comm sync_comm;
static int world_rank_of_process, world_size;

static int send_sample(void *user, uint32_t peer, const void *message) {
    (void)user;
    return pmpi.MPI_Send(message, SAMPLE_BYTES, MPI_BYTE, (int)peer, 1, sync_comm) == MPI_SUCCESS ? 0 : EIO;
}

static int receive_sample(void *user, uint32_t peer, void *message) {
    (void)user;
    return pmpi.MPI_Recv(message, SAMPLE_BYTES, MPI_BYTE, (int)peer, 1, sync_comm, MPI_STATUS_IGNORE) == MPI_SUCCESS
               ? 0
               : EIO;
}

static void start_job(int thread_level) {
    has_threads = thread_level == MPI_THREAD_MULTIPLE;
    has_world = pmpi.MPI_Comm_group(MPI_COMM_WORLD, &world_group) == MPI_SUCCESS;
    pmpi.MPI_Comm_rank(MPI_COMM_WORLD, &world_rank_of_process);
    pmpi.MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    tumit_mpi_set_rank(world_rank_of_process, world_size);
    lock_tables();
    new_communicator(MPI_COMM_WORLD, "MPI_COMM_WORLD");
    new_communicator(MPI_COMM_SELF, "MPI_COMM_SELF");
    unlock_tables();
    pmpi.MPI_Comm_dup(MPI_COMM_WORLD, &sync_comm);
    tumit_mpi_take_samples(world_rank_of_process, world_size, send_sample, receive_sample);
    is_active = 1;
}

/* Recording starts when the rank is known. If a variable of the launcher contains it, the span of
 * the initialisation begins now. Otherwise the rank is known after the call, and
 * `end_initialisation` records an empty span. */
static int begin_initialisation(int procedure) {
    if (!tumit_mpi_knows_rank()) {
        return 0;
    }
    tumit_mpi_begin_job(procedure);
    return 1;
}

static void end_initialisation(int procedure, int is_span_open) {
    if (!is_span_open) {
        tumit_mpi_begin_job(procedure);
    }
    tumit_mpi_end_job();
}

static int w_MPI_Init(int *argc, char ***argv) {
    int is_span_open;
    ENTER_CALL(is_outermost(), MPI_Init, argc, argv);
    is_span_open = begin_initialisation(PROCEDURE_MPI_Init);
    error_code = mpi.MPI_Init(argc, argv);
    if (error_code == MPI_SUCCESS) {
        start_job(0);
        end_initialisation(PROCEDURE_MPI_Init, is_span_open);
    }
    LEAVE_CALL();
}

static int w_MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
    int is_span_open;
    ENTER_CALL(is_outermost(), MPI_Init_thread, argc, argv, required, provided);
    is_span_open = begin_initialisation(PROCEDURE_MPI_Init_thread);
    error_code = mpi.MPI_Init_thread(argc, argv, required, provided);
    if (error_code == MPI_SUCCESS) {
        start_job(*provided);
        end_initialisation(PROCEDURE_MPI_Init_thread, is_span_open);
    }
    LEAVE_CALL();
}

/* The span begins before the clocks are compared: a process waits there for the others. */
static int w_MPI_Finalize(void) {
    BEGIN_CALL(job, MPI_Finalize);
    tumit_mpi_take_samples(world_rank_of_process, world_size, send_sample, receive_sample);
    is_active = 0;
    pmpi.MPI_Comm_free(&sync_comm);
    if (has_world) {
        pmpi.MPI_Group_free(&world_group);
    }
    error_code = mpi.MPI_Finalize();
    END_CALL(job);
}

static int w_MPI_Abort(MPI_Comm comm, int errorcode) {
    BEGIN_CALL(job, MPI_Abort, comm, errorcode);
    tumit_mpi_flush();
    error_code = mpi.MPI_Abort(comm, errorcode);
    END_CALL(job);
}

/* Programs with sessions have no MPI_COMM_WORLD, unless they also call MPI_Init. */
static int w_MPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session) {
    ENTER_CALL(is_outermost(), MPI_Session_init, info, errhandler, session);
    tumit_mpi_begin_job(PROCEDURE_MPI_Session_init);
    error_code = mpi.MPI_Session_init(info, errhandler, session);
    tumit_mpi_end_job();
    has_threads = 1;
    is_active = error_code == MPI_SUCCESS || is_active;
    LEAVE_CALL();
}

static int w_MPI_Session_finalize(MPI_Session *session) {
    BEGIN_CALL(job, MPI_Session_finalize, session);
    error_code = mpi.MPI_Session_finalize(session);
    END_CALL(job);
}

/* Level 0 stops recording, and all other levels continue it. */
static int w_MPI_Pcontrol(const int level, ...) {
    if (is_outermost()) {
        if (level == 0) {
            tumit_mpi_pause();
        } else {
            tumit_mpi_resume();
        }
    }
    return pmpi.MPI_Pcontrol(level);
}
