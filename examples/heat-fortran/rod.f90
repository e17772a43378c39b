! Heat diffusion along a rod: MPI ranks share its cells. In each step they send the ends of their
! parts to their neighbours; in some steps they agree on the residual.
!
!   rod [CELLS [STEPS]]      cells of the rod (200000), steps (40)
!
! Rank 0 then solves the rod alone; both solutions must be equal to the last bit. At the end it
! prints the counts of all ranks, for comparison with the trace.
program rod
  use, intrinsic :: iso_fortran_env, only: error_unit, int64, real64
  use mpi_f08
  use rod_trace
  implicit none

  integer, parameter :: reduce_every = 5
  integer :: cells, steps, rank, ranks, first, mine, n
  real(real64), allocatable :: now(:), next(:)
  ! Expected contents of the trace: states, links sent and received, samples.
  integer :: states = 0, sent = 0, received = 0, samples = 0

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  cells = argument(1, 200000)
  steps = argument(2, 40)
  call place()
  do n = 1, steps
    call step(n)
  end do
  call rod_leave()
  call report()
  call MPI_Finalize()

contains

  ! The number in the program's argument `index`.
  integer function argument(index, otherwise) result(value)
    integer, intent(in) :: index, otherwise
    character(len=16) :: text
    integer :: status
    call get_command_argument(index, text)
    read (text, *, iostat=status) value
    if (status /= 0 .or. value < 1) value = otherwise
  end function argument

  ! The first cell of the part of rank `which`, from 0.
  pure integer function start(which)
    integer, intent(in) :: which
    start = int(int(cells, int64) * which / ranks)
  end function start

  ! The initial value of a cell: one end of the rod is hot, the other one cold; a piece of it is
  ! warm.
  elemental real(real64) function start_value(cell)
    integer, intent(in) :: cell
    start_value = merge(60.0_real64, 10.0_real64, abs(cell - cells / 3) < cells / 20)
    if (cell < 1) start_value = 100.0_real64
    if (cell > cells) start_value = 0.0_real64
  end function start_value

  subroutine place()
    integer :: cell
    first = start(rank) + 1
    mine = start(rank + 1) - start(rank)
    if (mine < 2) then
      write (error_unit, '(a)') "rod: too few cells for so many ranks"
      call MPI_Abort(MPI_COMM_WORLD, 1)
    end if
    ! Cells 0 and mine + 1 belong to the neighbours, or are outside the rod.
    allocate (now(0:mine + 1), next(0:mine + 1))
    now = [(start_value(cell), cell = first - 1, first + mine)]
    next = now
    call rod_place(first, mine)
    states = states + 1
  end subroutine place

  subroutine step(n)
    integer, intent(in) :: n
    type(MPI_Request) :: requests(2)
    real(real64) :: ends(2), residual, largest
    call rod_step_begin(n)
    requests = MPI_REQUEST_NULL
    ends = [now(1), now(mine)]
    if (rank > 0) call send(ends(1), rank - 1, rod_side_left, n, requests(1))
    if (rank < ranks - 1) call send(ends(2), rank + 1, rod_side_right, n, requests(2))
    residual = sweep(2, mine - 1)
    ! A message from the left was sent towards the right.
    if (rank > 0) call receive(now(0), rank - 1, rod_side_right, n)
    if (rank < ranks - 1) call receive(now(mine + 1), rank + 1, rod_side_left, n)
    residual = max(residual, sweep(1, 1), sweep(mine, mine))
    call rod_residual(residual)
    samples = samples + 1
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    if (mod(n, reduce_every) == 0) then
      call rod_reduce_begin(n)
      call MPI_Allreduce(residual, largest, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD)
      call rod_reduce_end()
      states = states + 1
    end if
    now(1:mine) = next(1:mine)
    call rod_step_end()
    states = states + 1
  end subroutine step

  ! Computes new values for the cells `from` to `to`; returns the largest change.
  real(real64) function sweep(from, to)
    integer, intent(in) :: from, to
    call rod_sweep_begin(to - from + 1)
    next(from:to) = relaxed(now(from - 1:to + 1))
    sweep = maxval([0.0_real64, abs(next(from:to) - now(from:to))])
    call rod_sweep_end()
    states = states + 1
  end function sweep

  ! A time step for all values except the first and the last.
  pure function relaxed(old) result(new)
    real(real64), intent(in) :: old(:)
    real(real64) :: new(size(old) - 2)
    integer :: cell
    do cell = 2, size(old) - 1
      new(cell - 1) = 0.5_real64 * old(cell) + 0.25_real64 * (old(cell - 1) + old(cell + 1))
    end do
  end function relaxed

  ! The direction is the tag.
  subroutine send(value, to, toward, n, request)
    real(real64), intent(in), asynchronous :: value
    integer, intent(in) :: to, toward, n
    type(MPI_Request), intent(out) :: request
    call rod_send_begin(to, toward, n)
    call MPI_Isend(value, 1, MPI_DOUBLE_PRECISION, to, toward, MPI_COMM_WORLD, request)
    call rod_send_end()
    states = states + 1
    sent = sent + 1
  end subroutine send

  ! A blocking receipt is one record with two timestamps.
  subroutine receive(value, from, toward, n)
    real(real64), intent(out) :: value
    integer, intent(in) :: from, toward, n
    integer(int64) :: since
    since = tumit_now()
    call MPI_Recv(value, 1, MPI_DOUBLE_PRECISION, from, toward, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call rod_receive(from, toward, n, since)
    states = states + 1
    received = received + 1
  end subroutine receive

  ! Rank 0 compares the rod with its own solution, and prints the counts of all ranks.
  subroutine report()
    real(real64), allocatable :: whole(:), alone(:)
    real(real64) :: difference
    integer :: counts(4), totals(4), which, n, cell
    integer :: lengths(ranks), offsets(ranks)
    offsets = [(start(which), which = 0, ranks - 1)]
    lengths = [(start(which + 1) - start(which), which = 0, ranks - 1)]
    allocate (whole(cells))
    call MPI_Gatherv(now(1:mine), mine, MPI_DOUBLE_PRECISION, whole, lengths, offsets, MPI_DOUBLE_PRECISION, 0, &
        MPI_COMM_WORLD)
    counts = [states, sent, received, samples]
    call MPI_Reduce(counts, totals, 4, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD)
    if (rank /= 0) return
    allocate (alone(0:cells + 1))
    alone = [(start_value(cell), cell = 0, cells + 1)]
    do n = 1, steps
      alone(1:cells) = relaxed(alone)
    end do
    difference = maxval(abs(whole - alone(1:cells)))
    print '(2(a, i0), a, es8.1)', "rod: ", cells, " cells, ", steps, " steps; largest difference from one rank alone: ", difference
    print '(5(a, i0))', "counts: ranks=", ranks, " steps=", steps, " states=", totals(1), " links=", totals(2), &
        " samples=", totals(4)
    if (difference > 0 .or. totals(2) /= totals(3)) then
      write (error_unit, '(a)') "rod: the solution is wrong, or messages are missing"
      call MPI_Abort(MPI_COMM_WORLD, 1)
    end if
  end subroutine report

end program rod
