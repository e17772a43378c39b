
! A clock of the program: ticks that never run backwards.
abstract interface
  function tumit_clock() result(ticks) bind(C)
    import :: c_int64_t
    integer(c_int64_t) :: ticks
  end function tumit_clock
end interface

! Statistics of the recorder, from tumit_get_stats().
type, bind(C) :: tumit_stats
  integer(c_int64_t) :: written       !< records in the file; without those in the slots of threads
  integer(c_int64_t) :: dropped       !< dropped records, including overwritten ones
  integer(c_int64_t) :: in_live_file  !< records that stay in the live file, because writing the file failed
  integer(c_int64_t) :: file_bytes
  integer(c_int64_t) :: blocks        !< blocks of records
  integer(c_int64_t) :: streams       !< one per thread with records
  integer(c_int64_t) :: slots         !< slots of 64 KiB each
  integer(c_int64_t) :: slots_free    !< free slots
  integer(c_int64_t) :: slots_full    !< full slots that are not yet written
  integer(c_int64_t) :: mapped        !< 1: slots survive the killing of the process
  integer(c_int64_t) :: writer_thread !< 1: a writer thread writes
end type tumit_stats

interface
  function tumit_now_c() result(timestamp) bind(C, name="tumit1f_now")
    import :: c_int64_t
    integer(c_int64_t) :: timestamp
  end function tumit_now_c
  function tumit_new_task_c() result(task) bind(C, name="tumit1f_new_task")
    import :: c_int64_t
    integer(c_int64_t) :: task
  end function tumit_new_task_c
  function tumit_start_c(texts, lengths, memory_bytes) result(error) bind(C, name="tumit1f_start")
    import :: c_char, c_int, c_int64_t, c_size_t
    character(kind=c_char), intent(in) :: texts(*)
    integer(c_size_t), intent(in) :: lengths(4)
    integer(c_int64_t), value :: memory_bytes
    integer(c_int) :: error
  end function tumit_start_c
  subroutine tumit_flush_c() bind(C, name="tumit1f_flush")
  end subroutine tumit_flush_c
  subroutine tumit_dump_c() bind(C, name="tumit1f_dump")
  end subroutine tumit_dump_c
  subroutine tumit_finish_c() bind(C, name="tumit1f_finish")
  end subroutine tumit_finish_c
  subroutine tumit_pause_c() bind(C, name="tumit1f_pause")
  end subroutine tumit_pause_c
  subroutine tumit_resume_c() bind(C, name="tumit1f_resume")
  end subroutine tumit_resume_c
  subroutine tumit_get_stats_c(stats) bind(C, name="tumit1f_get_stats")
    import :: tumit_stats
    type(tumit_stats), intent(out) :: stats
  end subroutine tumit_get_stats_c
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

  subroutine tumit_set_stream_label_c(label, label_len) bind(C, name="tumit1f_set_stream_label")
    import :: c_char, c_size_t
    character(kind=c_char), intent(in) :: label(*)
    integer(c_size_t), value :: label_len
  end subroutine tumit_set_stream_label_c
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
  subroutine tumit_mpi_sync_point_c() bind(C, name="tumit1f_mpi_sync_point")
  end subroutine tumit_mpi_sync_point_c
  subroutine tumit_mpi_finish_c() bind(C, name="tumit1f_mpi_finish")
  end subroutine tumit_mpi_finish_c
end interface
