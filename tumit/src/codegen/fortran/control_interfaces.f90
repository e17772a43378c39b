
!> A date, for arguments of type `date`: ticks of this process's clock.
interface
  function tumit_now() result(date) bind(C, name="tumit1f_now")
    import :: c_int64_t
    integer(c_int64_t) :: date
  end function tumit_now
end interface

!> Writes what all threads recorded until now. The end of the program does so by itself.
interface
  subroutine tumit_flush() bind(C, name="tumit1f_flush")
  end subroutine tumit_flush
end interface

!> Where MPI_Init and MPI_Finalize are called out of reach (from a library, say): after the one and before the other, in
!! all processes. `tumit_mpi_sync` takes further samples of all clocks. Without -DTUMIT_MPI they do nothing.
interface
  subroutine tumit_mpi_start() bind(C, name="tumit1f_mpi_start")
  end subroutine tumit_mpi_start
  subroutine tumit_mpi_sync() bind(C, name="tumit1f_mpi_sync")
  end subroutine tumit_mpi_sync
  subroutine tumit_mpi_finish() bind(C, name="tumit1f_mpi_finish")
  end subroutine tumit_mpi_finish
end interface

!> A clock of your own, for `tumit_set_clock`: ticks that never run backwards.
abstract interface
  function tumit_clock() result(ticks) bind(C)
    import :: c_int64_t
    integer(c_int64_t) :: ticks
  end function tumit_clock
end interface

interface
  function tumit_set_level_c(name, name_len, on) result(found) bind(C, name="tumit1f_set_level")
    import :: c_char, c_int, c_size_t
    character(kind=c_char), intent(in) :: name(*)
    integer(c_size_t), value :: name_len
    integer(c_int), value :: on
    integer(c_int) :: found
  end function tumit_set_level_c
  subroutine tumit_set_thread_name_c(name, name_len) bind(C, name="tumit1f_set_thread_name")
    import :: c_char, c_size_t
    character(kind=c_char), intent(in) :: name(*)
    integer(c_size_t), value :: name_len
  end subroutine tumit_set_thread_name_c
  function tumit_set_clock_c(ticks, hz, domain, domain_len) result(error) bind(C, name="tumit1f_set_clock")
    import :: c_char, c_funptr, c_int, c_int64_t, c_size_t
    type(c_funptr), value :: ticks
    integer(c_int64_t), value :: hz
    character(kind=c_char), intent(in) :: domain(*)
    integer(c_size_t), value :: domain_len
    integer(c_int) :: error
  end function tumit_set_clock_c
end interface
