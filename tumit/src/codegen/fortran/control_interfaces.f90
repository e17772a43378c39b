
! A clock of one's own: ticks that never run backwards.
abstract interface
  function tumit_clock() result(ticks) bind(C)
    import :: c_int64_t
    integer(c_int64_t) :: ticks
  end function tumit_clock
end interface

interface
  function tumit_now_c() result(date) bind(C, name="tumit1f_now")
    import :: c_int64_t
    integer(c_int64_t) :: date
  end function tumit_now_c
  function tumit_new_task_c() result(task) bind(C, name="tumit1f_new_task")
    import :: c_int64_t
    integer(c_int64_t) :: task
  end function tumit_new_task_c
  subroutine tumit_flush_c() bind(C, name="tumit1f_flush")
  end subroutine tumit_flush_c
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
  subroutine tumit_mpi_start_c() bind(C, name="tumit1f_mpi_start")
  end subroutine tumit_mpi_start_c
  subroutine tumit_mpi_sync_c() bind(C, name="tumit1f_mpi_sync")
  end subroutine tumit_mpi_sync_c
  subroutine tumit_mpi_finish_c() bind(C, name="tumit1f_mpi_finish")
  end subroutine tumit_mpi_finish_c
end interface
