! A ring of messages with the module `mpi`.
program ring
    use mpi
    implicit none
    integer :: rank, ranks, step, message(10), request, error
    double precision :: total
    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
    message = rank
    do step = 1, 5
        call MPI_Irecv(message, 10, MPI_INTEGER, MPI_ANY_SOURCE, step, MPI_COMM_WORLD, request, error)
        call MPI_Send(message, step, MPI_INTEGER, mod(rank + 1, ranks), step, MPI_COMM_WORLD, error)
        call MPI_Wait(request, MPI_STATUS_IGNORE, error)
        total = rank
        call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
    end do
    call MPI_Finalize(error)
end program ring
