! Keywords of some language. In Fortran, they follow the name of the trace.
program drive
  use keywords_trace
  implicit none

  call keywords_type(-1, 2, 3, 4)
  call keywords_int(1, 2, 3, 4, .true., .false.)
  call keywords_class(1, 2, 3, 4, 5)
  call keywords_end(1, -2, 3, 4, 5, 6, 7.5)
  call keywords_default(1, 2, 3, 4, 5, 6)
  call keywords_for(1, 2, 3, 4, 5, 6, 7, 8)
  call keywords_event(1, 2, 3, 4, 5, 6)
  call keywords_stderr(-1, 2, 3, 4, 5, 6)
  call keywords_loop_begin(1, 2, 3, 4, 5, 6)
  call keywords_call(1, 2, 3, 4, 5, 6, 7)
  call keywords_loop_end()
end program drive
