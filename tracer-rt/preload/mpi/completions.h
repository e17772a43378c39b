/* Procedures that complete requests, and calls that test for something. */

/* Number of requests for which the stack has room. */
#define REQUESTS_ON_STACK 64

/* The requests of a call, looked up before the call, and statuses for the case that the program
 * passes none. `requests` is null if the table contains none of them. */
struct completion {
    struct request **requests;
    MPI_Status *statuses;
    void *memory;
    struct request *requests_on_stack[REQUESTS_ON_STACK];
    MPI_Status statuses_on_stack[REQUESTS_ON_STACK];
};

static void begin_completion(struct completion *completion, int count, const MPI_Request handles[], MPI_Status statuses[]) {
    int i;
    completion->requests = NULL;
    completion->memory = NULL;
    completion->statuses = statuses;
    if (request_count == 0 || count <= 0) {
        return;
    }
    completion->requests = completion->requests_on_stack;
    if (count > REQUESTS_ON_STACK) {
        completion->memory = allocated((size_t)count * (sizeof(struct request *) + sizeof(MPI_Status)));
        completion->requests = completion->memory;
    }
    lock_tables();
    for (i = 0; i < count; i++) {
        completion->requests[i] = request_of(handles[i]);
    }
    unlock_tables();
    if (statuses == MPI_STATUSES_IGNORE) {
        completion->statuses = completion->memory != NULL ? (MPI_Status *)(void *)&completion->requests[count]
                                                          : completion->statuses_on_stack;
    }
}

/* The request at this position has completed. */
static void complete_at(const struct completion *completion, int position, const MPI_Status *status) {
    struct request *request;
    if (completion->requests == NULL || position < 0) {
        return;
    }
    request = completion->requests[position];
    if (request != NULL) {
        lock_tables();
        complete_request(request, status);
        unlock_tables();
    }
}

static void end_completion(struct completion *completion) { free(completion->memory); }

/* Calls of each procedure that found nothing, since the last record of them. */
static __thread uint32_t unsuccessful[3];
enum tested { TESTED_REQUEST, TESTED_REQUESTS, TESTED_MESSAGE };

/* A call that found nothing is only counted, because programs repeat it very often. */
static void record_test(enum tested tested, int procedure, int has_found, tumit_mpi_date since) {
    if (!has_found) {
        unsuccessful[tested]++;
        return;
    }
    tumit_mpi_record_successful_test(procedure, since, unsuccessful[tested]);
    unsuccessful[tested] = 0;
}

static int w_MPI_Wait(MPI_Request *request, MPI_Status *status) {
    MPI_Status own;
    struct request *waited;
    int result;
    if (!is_recorded()) {
        return inner.MPI_Wait(request, status);
    }
    tumit_mpi_depth++;
    tumit_mpi_begin_point_to_point(PROCEDURE_MPI_Wait);
    if (request_count == 0) {
        result = next.MPI_Wait(request, status);
    } else {
        status = status == MPI_STATUS_IGNORE ? &own : status;
        lock_tables();
        waited = request_of(*request);
        unlock_tables();
        result = next.MPI_Wait(request, status);
        if (waited != NULL) {
            lock_tables();
            complete_request(waited, status);
            unlock_tables();
        }
    }
    tumit_mpi_end_point_to_point();
    tumit_mpi_depth--;
    return result;
}

static int w_MPI_Waitall(int count, MPI_Request array_of_requests[], MPI_Status array_of_statuses[]) {
    struct completion completion;
    int result, i;
    if (!is_recorded()) {
        return inner.MPI_Waitall(count, array_of_requests, array_of_statuses);
    }
    tumit_mpi_depth++;
    tumit_mpi_begin_point_to_point(PROCEDURE_MPI_Waitall);
    begin_completion(&completion, count, array_of_requests, array_of_statuses);
    result = next.MPI_Waitall(count, array_of_requests, completion.statuses);
    for (i = 0; completion.requests != NULL && i < count; i++) {
        complete_at(&completion, i, &completion.statuses[i]);
    }
    end_completion(&completion);
    tumit_mpi_end_point_to_point();
    tumit_mpi_depth--;
    return result;
}

static int w_MPI_Waitany(int count, MPI_Request array_of_requests[], int *index, MPI_Status *status) {
    struct completion completion;
    MPI_Status own;
    int result;
    if (!is_recorded()) {
        return inner.MPI_Waitany(count, array_of_requests, index, status);
    }
    tumit_mpi_depth++;
    status = status == MPI_STATUS_IGNORE ? &own : status;
    tumit_mpi_begin_point_to_point(PROCEDURE_MPI_Waitany);
    begin_completion(&completion, count, array_of_requests, status);
    result = next.MPI_Waitany(count, array_of_requests, index, status);
    if (*index != MPI_UNDEFINED) {
        complete_at(&completion, *index, status);
    }
    end_completion(&completion);
    tumit_mpi_end_point_to_point();
    tumit_mpi_depth--;
    return result;
}

static int w_MPI_Waitsome(int incount, MPI_Request array_of_requests[], int *outcount, int array_of_indices[],
                          MPI_Status array_of_statuses[]) {
    struct completion completion;
    int result, i;
    if (!is_recorded()) {
        return inner.MPI_Waitsome(incount, array_of_requests, outcount, array_of_indices, array_of_statuses);
    }
    tumit_mpi_depth++;
    tumit_mpi_begin_point_to_point(PROCEDURE_MPI_Waitsome);
    begin_completion(&completion, incount, array_of_requests, array_of_statuses);
    result = next.MPI_Waitsome(incount, array_of_requests, outcount, array_of_indices, completion.statuses);
    for (i = 0; completion.requests != NULL && *outcount != MPI_UNDEFINED && i < *outcount; i++) {
        complete_at(&completion, array_of_indices[i], &completion.statuses[i]);
    }
    end_completion(&completion);
    tumit_mpi_end_point_to_point();
    tumit_mpi_depth--;
    return result;
}

static int w_MPI_Test(MPI_Request *request, int *flag, MPI_Status *status) {
    struct completion completion;
    MPI_Status own;
    tumit_mpi_date since;
    int result;
    if (!is_recorded()) {
        return inner.MPI_Test(request, flag, status);
    }
    tumit_mpi_depth++;
    since = tumit_mpi_now();
    status = status == MPI_STATUS_IGNORE ? &own : status;
    begin_completion(&completion, 1, request, status);
    result = next.MPI_Test(request, flag, status);
    if (*flag) {
        complete_at(&completion, 0, status);
    }
    record_test(TESTED_REQUEST, PROCEDURE_MPI_Test, *flag, since);
    end_completion(&completion);
    tumit_mpi_depth--;
    return result;
}

static int w_MPI_Testall(int count, MPI_Request array_of_requests[], int *flag, MPI_Status array_of_statuses[]) {
    struct completion completion;
    tumit_mpi_date since;
    int result, i;
    if (!is_recorded()) {
        return inner.MPI_Testall(count, array_of_requests, flag, array_of_statuses);
    }
    tumit_mpi_depth++;
    since = tumit_mpi_now();
    begin_completion(&completion, count, array_of_requests, array_of_statuses);
    result = next.MPI_Testall(count, array_of_requests, flag, completion.statuses);
    for (i = 0; completion.requests != NULL && *flag && i < count; i++) {
        complete_at(&completion, i, &completion.statuses[i]);
    }
    record_test(TESTED_REQUESTS, PROCEDURE_MPI_Testall, *flag, since);
    end_completion(&completion);
    tumit_mpi_depth--;
    return result;
}

static int w_MPI_Testany(int count, MPI_Request array_of_requests[], int *index, int *flag, MPI_Status *status) {
    struct completion completion;
    MPI_Status own;
    tumit_mpi_date since;
    int result;
    if (!is_recorded()) {
        return inner.MPI_Testany(count, array_of_requests, index, flag, status);
    }
    tumit_mpi_depth++;
    since = tumit_mpi_now();
    status = status == MPI_STATUS_IGNORE ? &own : status;
    begin_completion(&completion, count, array_of_requests, status);
    result = next.MPI_Testany(count, array_of_requests, index, flag, status);
    if (*flag && *index != MPI_UNDEFINED) {
        complete_at(&completion, *index, status);
    }
    record_test(TESTED_REQUESTS, PROCEDURE_MPI_Testany, *flag, since);
    end_completion(&completion);
    tumit_mpi_depth--;
    return result;
}

static int w_MPI_Testsome(int incount, MPI_Request array_of_requests[], int *outcount, int array_of_indices[],
                          MPI_Status array_of_statuses[]) {
    struct completion completion;
    tumit_mpi_date since;
    int result, i;
    if (!is_recorded()) {
        return inner.MPI_Testsome(incount, array_of_requests, outcount, array_of_indices, array_of_statuses);
    }
    tumit_mpi_depth++;
    since = tumit_mpi_now();
    begin_completion(&completion, incount, array_of_requests, array_of_statuses);
    result = next.MPI_Testsome(incount, array_of_requests, outcount, array_of_indices, completion.statuses);
    for (i = 0; completion.requests != NULL && *outcount != MPI_UNDEFINED && i < *outcount; i++) {
        complete_at(&completion, array_of_indices[i], &completion.statuses[i]);
    }
    record_test(TESTED_REQUESTS, PROCEDURE_MPI_Testsome, *outcount > 0, since);
    end_completion(&completion);
    tumit_mpi_depth--;
    return result;
}

static int w_MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status) {
    tumit_mpi_date since;
    int result;
    if (!is_recorded()) {
        return inner.MPI_Iprobe(source, tag, comm, flag, status);
    }
    tumit_mpi_depth++;
    since = tumit_mpi_now();
    result = next.MPI_Iprobe(source, tag, comm, flag, status);
    record_test(TESTED_MESSAGE, PROCEDURE_MPI_Iprobe, *flag, since);
    tumit_mpi_depth--;
    return result;
}

static int w_MPI_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status) {
    struct receive *receive;
    MPI_Status own;
    tumit_mpi_date since;
    int result;
    if (!is_recorded()) {
        return inner.MPI_Improbe(source, tag, comm, flag, message, status);
    }
    tumit_mpi_depth++;
    since = tumit_mpi_now();
    status = status == MPI_STATUS_IGNORE ? &own : status;
    lock_tables();
    result = next.MPI_Improbe(source, tag, comm, flag, message, status);
    if (result == MPI_SUCCESS && *flag) {
        receive = post(comm, source, tag);
        add_matched_message(*message, receive, status);
    }
    unlock_tables();
    record_test(TESTED_MESSAGE, PROCEDURE_MPI_Improbe, *flag, since);
    tumit_mpi_depth--;
    return result;
}

static int w_MPI_Cancel(MPI_Request *request) {
    struct request *cancelled;
    int result;
    if (!is_recorded()) {
        return inner.MPI_Cancel(request);
    }
    tumit_mpi_depth++;
    tumit_mpi_begin_point_to_point(PROCEDURE_MPI_Cancel);
    lock_tables();
    cancelled = request_of(*request);
    if (cancelled != NULL) {
        cancelled->is_cancelled = 1;
    }
    unlock_tables();
    result = next.MPI_Cancel(request);
    tumit_mpi_end_point_to_point();
    tumit_mpi_depth--;
    return result;
}

static int w_MPI_Request_free(MPI_Request *request) {
    struct request *freed;
    int result;
    if (!is_recorded()) {
        return inner.MPI_Request_free(request);
    }
    tumit_mpi_depth++;
    tumit_mpi_begin_point_to_point(PROCEDURE_MPI_Request_free);
    lock_tables();
    freed = request_of(*request);
    if (freed != NULL) {
        if (freed->receive != NULL) {
            /* The receive completes without a call that the recorder sees. */
            drop_receive(freed->receive);
        }
        remove_request(freed);
    }
    unlock_tables();
    result = next.MPI_Request_free(request);
    tumit_mpi_end_point_to_point();
    tumit_mpi_depth--;
    return result;
}
