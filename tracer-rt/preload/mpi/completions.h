/* Procedures that wait for requests or messages, or test for them. */

/* Calls with more requests allocate memory. */
#define REQUESTS_ON_STACK 64

/* The requests of a call that completes requests. */
struct completion {
    /* The element of the table for each handle, or NULL if there is none or the call has completed
     * it. The pointer is NULL if the table is empty. */
    struct request **requests;
    /* The array of the program, or one of the recorder if the program passes none. */
    MPI_Status *statuses;
    /* The memory of both arrays if the stack is too small. */
    void *memory;
    /* Number of elements that are not NULL. */
    int reserved_count;
    struct request *requests_on_stack[REQUESTS_ON_STACK];
    MPI_Status statuses_on_stack[REQUESTS_ON_STACK];
};

static void begin_completion(struct completion *completion, int count, const MPI_Request handles[],
                             MPI_Status statuses[]) {
    int i;
    completion->requests = NULL;
    completion->memory = NULL;
    completion->reserved_count = 0;
    completion->statuses = statuses;
    if (request_count == 0 || count <= 0) {
        return;
    }
    completion->requests = completion->requests_on_stack;
    if (count > REQUESTS_ON_STACK) {
        completion->memory = allocate((size_t)count * (sizeof(struct request *) + sizeof(MPI_Status)));
        completion->requests = completion->memory;
    }
    lock_tables();
    for (i = 0; i < count; i++) {
        completion->requests[i] = reserve_request(handles[i]);
        completion->reserved_count += completion->requests[i] != NULL;
    }
    unlock_tables();
    if (statuses == MPI_STATUSES_IGNORE) {
        completion->statuses = completion->memory != NULL ? (MPI_Status *)(void *)&completion->requests[count]
                                                          : completion->statuses_on_stack;
    }
}

/* The request at this position has completed. */
static void complete_at(struct completion *completion, int position, const MPI_Status *status) {
    struct request *request;
    if (completion->requests == NULL || position < 0) {
        return;
    }
    request = completion->requests[position];
    if (request != NULL) {
        completion->requests[position] = NULL;
        completion->reserved_count--;
        lock_tables();
        complete_request(request, status);
        unlock_tables();
    }
}

/* Releases the requests that the call has not completed. */
static void end_completion(struct completion *completion, int count) {
    int i;
    if (completion->reserved_count > 0) {
        lock_tables();
        for (i = 0; i < count; i++) {
            if (completion->requests[i] != NULL) {
                completion->requests[i]->is_reserved = 0;
            }
        }
        unlock_tables();
    }
    free(completion->memory);
}

/* The kinds of test calls: of one request, of several requests, of a message, of a window. */
enum test_kind { TEST_OF_REQUEST, TEST_OF_REQUESTS, TEST_OF_MESSAGE, TEST_OF_WINDOW, TEST_KINDS };
/* Number of unsuccessful calls of each kind since the previous record. */
static __thread uint32_t failures[TEST_KINDS];

/* Programs repeat unsuccessful calls very often, so these are only counted. */
static void record_test(enum test_kind kind, int procedure, int is_successful, tumit_mpi_date call_start) {
    if (!is_successful) {
        failures[kind]++;
        return;
    }
    tumit_mpi_record_successful_test(procedure, call_start, failures[kind]);
    failures[kind] = 0;
}

static int w_MPI_Wait(MPI_Request *request, MPI_Status *status) {
    MPI_Status local_status;
    struct request *table_entry;
    BEGIN_CALL(point_to_point, MPI_Wait, request, status);
    if (request_count == 0) {
        error_code = mpi.MPI_Wait(request, status);
    } else {
        status = status == MPI_STATUS_IGNORE ? &local_status : status;
        lock_tables();
        table_entry = reserve_request(*request);
        unlock_tables();
        error_code = mpi.MPI_Wait(request, status);
        if (table_entry != NULL) {
            lock_tables();
            complete_request(table_entry, status);
            unlock_tables();
        }
    }
    END_CALL(point_to_point);
}

static int w_MPI_Waitall(int count, MPI_Request array_of_requests[], MPI_Status array_of_statuses[]) {
    struct completion completion;
    int i;
    BEGIN_CALL(point_to_point, MPI_Waitall, count, array_of_requests, array_of_statuses);
    begin_completion(&completion, count, array_of_requests, array_of_statuses);
    error_code = mpi.MPI_Waitall(count, array_of_requests, completion.statuses);
    for (i = 0; completion.requests != NULL && i < count; i++) {
        complete_at(&completion, i, &completion.statuses[i]);
    }
    end_completion(&completion, count);
    END_CALL(point_to_point);
}

static int w_MPI_Waitany(int count, MPI_Request array_of_requests[], int *index, MPI_Status *status) {
    struct completion completion;
    MPI_Status local_status;
    BEGIN_CALL(point_to_point, MPI_Waitany, count, array_of_requests, index, status);
    status = status == MPI_STATUS_IGNORE ? &local_status : status;
    begin_completion(&completion, count, array_of_requests, status);
    error_code = mpi.MPI_Waitany(count, array_of_requests, index, status);
    if (*index != MPI_UNDEFINED) {
        complete_at(&completion, *index, status);
    }
    end_completion(&completion, count);
    END_CALL(point_to_point);
}

static int w_MPI_Waitsome(int incount, MPI_Request array_of_requests[], int *outcount, int array_of_indices[],
                          MPI_Status array_of_statuses[]) {
    struct completion completion;
    int i;
    BEGIN_CALL(point_to_point, MPI_Waitsome, incount, array_of_requests, outcount, array_of_indices, array_of_statuses);
    begin_completion(&completion, incount, array_of_requests, array_of_statuses);
    error_code = mpi.MPI_Waitsome(incount, array_of_requests, outcount, array_of_indices, completion.statuses);
    for (i = 0; completion.requests != NULL && *outcount != MPI_UNDEFINED && i < *outcount; i++) {
        complete_at(&completion, array_of_indices[i], &completion.statuses[i]);
    }
    end_completion(&completion, incount);
    END_CALL(point_to_point);
}

static int w_MPI_Test(MPI_Request *request, int *flag, MPI_Status *status) {
    struct completion completion;
    MPI_Status local_status;
    tumit_mpi_date call_start;
    ENTER_CALL(is_recorded(), MPI_Test, request, flag, status);
    call_start = tumit_mpi_now();
    status = status == MPI_STATUS_IGNORE ? &local_status : status;
    begin_completion(&completion, 1, request, status);
    error_code = mpi.MPI_Test(request, flag, status);
    if (*flag) {
        complete_at(&completion, 0, status);
    }
    record_test(TEST_OF_REQUEST, PROCEDURE_MPI_Test, *flag, call_start);
    end_completion(&completion, 1);
    LEAVE_CALL();
}

static int w_MPI_Testall(int count, MPI_Request array_of_requests[], int *flag, MPI_Status array_of_statuses[]) {
    struct completion completion;
    tumit_mpi_date call_start;
    int i;
    ENTER_CALL(is_recorded(), MPI_Testall, count, array_of_requests, flag, array_of_statuses);
    call_start = tumit_mpi_now();
    begin_completion(&completion, count, array_of_requests, array_of_statuses);
    error_code = mpi.MPI_Testall(count, array_of_requests, flag, completion.statuses);
    for (i = 0; completion.requests != NULL && *flag && i < count; i++) {
        complete_at(&completion, i, &completion.statuses[i]);
    }
    record_test(TEST_OF_REQUESTS, PROCEDURE_MPI_Testall, *flag, call_start);
    end_completion(&completion, count);
    LEAVE_CALL();
}

static int w_MPI_Testany(int count, MPI_Request array_of_requests[], int *index, int *flag, MPI_Status *status) {
    struct completion completion;
    MPI_Status local_status;
    tumit_mpi_date call_start;
    ENTER_CALL(is_recorded(), MPI_Testany, count, array_of_requests, index, flag, status);
    call_start = tumit_mpi_now();
    status = status == MPI_STATUS_IGNORE ? &local_status : status;
    begin_completion(&completion, count, array_of_requests, status);
    error_code = mpi.MPI_Testany(count, array_of_requests, index, flag, status);
    if (*flag && *index != MPI_UNDEFINED) {
        complete_at(&completion, *index, status);
    }
    record_test(TEST_OF_REQUESTS, PROCEDURE_MPI_Testany, *flag, call_start);
    end_completion(&completion, count);
    LEAVE_CALL();
}

static int w_MPI_Testsome(int incount, MPI_Request array_of_requests[], int *outcount, int array_of_indices[],
                          MPI_Status array_of_statuses[]) {
    struct completion completion;
    tumit_mpi_date call_start;
    int i;
    ENTER_CALL(is_recorded(), MPI_Testsome, incount, array_of_requests, outcount, array_of_indices, array_of_statuses);
    call_start = tumit_mpi_now();
    begin_completion(&completion, incount, array_of_requests, array_of_statuses);
    error_code = mpi.MPI_Testsome(incount, array_of_requests, outcount, array_of_indices, completion.statuses);
    for (i = 0; completion.requests != NULL && *outcount != MPI_UNDEFINED && i < *outcount; i++) {
        complete_at(&completion, array_of_indices[i], &completion.statuses[i]);
    }
    record_test(TEST_OF_REQUESTS, PROCEDURE_MPI_Testsome, *outcount > 0, call_start);
    end_completion(&completion, incount);
    LEAVE_CALL();
}

/* A program may repeat this call until the partition has arrived, like a test. */
static int w_MPI_Parrived(MPI_Request request, int partition, int *flag) {
    tumit_mpi_date call_start;
    ENTER_CALL(is_recorded(), MPI_Parrived, request, partition, flag);
    call_start = tumit_mpi_now();
    error_code = mpi.MPI_Parrived(request, partition, flag);
    record_test(TEST_OF_REQUEST, PROCEDURE_MPI_Parrived, *flag, call_start);
    LEAVE_CALL();
}

static int w_MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status) {
    tumit_mpi_date call_start;
    ENTER_CALL(is_recorded(), MPI_Iprobe, source, tag, comm, flag, status);
    call_start = tumit_mpi_now();
    error_code = mpi.MPI_Iprobe(source, tag, comm, flag, status);
    record_test(TEST_OF_MESSAGE, PROCEDURE_MPI_Iprobe, *flag, call_start);
    LEAVE_CALL();
}

static int w_MPI_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status) {
    struct receive *receive;
    MPI_Status local_status;
    tumit_mpi_date call_start;
    ENTER_CALL(is_recorded(), MPI_Improbe, source, tag, comm, flag, message, status);
    call_start = tumit_mpi_now();
    status = status == MPI_STATUS_IGNORE ? &local_status : status;
    lock_tables();
    error_code = mpi.MPI_Improbe(source, tag, comm, flag, message, status);
    if (error_code == MPI_SUCCESS && *flag) {
        receive = post(comm, source, tag);
        add_matched_message(*message, receive, status);
    }
    unlock_tables();
    record_test(TEST_OF_MESSAGE, PROCEDURE_MPI_Improbe, *flag, call_start);
    LEAVE_CALL();
}

static int w_MPI_Cancel(MPI_Request *request) {
    struct request *table_entry;
    BEGIN_CALL(point_to_point, MPI_Cancel, request);
    lock_tables();
    table_entry = request_of(*request);
    if (table_entry != NULL) {
        table_entry->is_cancelled = 1;
    }
    unlock_tables();
    error_code = mpi.MPI_Cancel(request);
    END_CALL(point_to_point);
}

static int w_MPI_Request_free(MPI_Request *request) {
    struct request *table_entry;
    BEGIN_CALL(point_to_point, MPI_Request_free, request);
    lock_tables();
    table_entry = reserve_request(*request);
    if (table_entry != NULL) {
        if (table_entry->receive != NULL) {
            /* MPI completes the receive without a call of the program. */
            drop_receive(table_entry->receive);
        }
        if (table_entry->operation != NULL) {
            free_operation(table_entry->operation);
        }
        remove_request(table_entry);
    }
    unlock_tables();
    error_code = mpi.MPI_Request_free(request);
    END_CALL(point_to_point);
}
