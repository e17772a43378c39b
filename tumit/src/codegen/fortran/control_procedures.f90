
!> A date, for arguments of type `date`: ticks of this process's clock.
function tumit_now() result(date)
  integer(c_int64_t) :: date
  date = tumit_now_c()
end function tumit_now

!> A number that no other task of this process has, for the argument `task` of async spans.
function tumit_new_task() result(task)
  integer(c_int64_t) :: task
  task = tumit_new_task_c()
end function tumit_new_task

!> Writes what all threads recorded until now. The end of the program does so by itself.
subroutine tumit_flush()
  call tumit_flush_c()
end subroutine tumit_flush

!> Switches a level (`APP`, or `TRACE.APP`) while the program runs. `found`: how many levels have this name.
subroutine tumit_set_level(name, on, found)
  character(len=*), intent(in) :: name
  logical, intent(in) :: on
  integer, intent(out), optional :: found
  integer(c_int) :: levels
  levels = tumit_set_level_c(name, len(name, c_size_t), merge(1_c_int, 0_c_int, on))
  if (present(found)) found = levels
end subroutine tumit_set_level

!> Names the calling thread in the trace.
subroutine tumit_set_thread_name(name)
  character(len=*), intent(in) :: name
  call tumit_set_thread_name_c(name, len(name, c_size_t))
end subroutine tumit_set_thread_name

!> Dates are taken from `ticks` (`hz` of them a second; they never run backwards) instead of the processor's clock. To be
!! called before the first record, else `error` is not 0. `domain` names the clock: processes whose clocks have the same
!! name need no correction.
subroutine tumit_set_clock(ticks, hz, domain, error)
  procedure(tumit_clock) :: ticks
  integer(c_int64_t), intent(in) :: hz
  character(len=*), intent(in) :: domain
  integer, intent(out), optional :: error
  integer(c_int) :: failed
  failed = tumit_set_clock_c(c_funloc(ticks), hz, domain, len(domain, c_size_t))
  if (present(error)) error = failed
end subroutine tumit_set_clock

!> For programs that call MPI_Init where it cannot be seen (in a library that hides it): after it, in all processes. Without
!! -DTUMIT_MPI this and the next two do nothing.
subroutine tumit_mpi_start()
  call tumit_mpi_start_c()
end subroutine tumit_mpi_start

!> Takes further samples of all clocks, in all processes.
subroutine tumit_mpi_sync()
  call tumit_mpi_sync_c()
end subroutine tumit_mpi_sync

!> For programs that call MPI_Finalize where it cannot be seen: before it, in all processes.
subroutine tumit_mpi_finish()
  call tumit_mpi_finish_c()
end subroutine tumit_mpi_finish
