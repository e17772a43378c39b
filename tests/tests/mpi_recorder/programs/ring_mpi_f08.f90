! A ring of messages with the module `mpi_f08`.
program ring
    use mpi_f08
    implicit none
    integer :: rank, ranks, step, message(10)
    double precision :: total
    type(MPI_Request) :: request
    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    message = rank
    do step = 1, 5
        call MPI_Irecv(message, 10, MPI_INTEGER, MPI_ANY_SOURCE, step, MPI_COMM_WORLD, request)
        call MPI_Send(message, step, MPI_INTEGER, mod(rank + 1, ranks), step, MPI_COMM_WORLD)
        call MPI_Wait(request, MPI_STATUS_IGNORE)
        total = rank
        call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
    end do
    call MPI_Finalize()
end program ring
