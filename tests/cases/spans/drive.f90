! Spans: a call for each end.
program drive
  use, intrinsic :: iso_c_binding, only: c_int64_t
  use spans_trace
  implicit none
  integer :: n

  do n = 0, 2
    call spans_step_begin(n)
    call spans_between(n)
    call spans_step_end()
  end do
  call spans_pause_begin()
  call spans_pause_end()
  call spans_read_begin("a.txt", shiftl(1_c_int64_t, 40), [1, 2, 3], "quickly")
  call spans_between(100)
  call spans_read_end()
  call spans_step_begin(-1)
  call spans_step_end()
end program drive
