! Spans with their source position.
program drive
  use located_spans_trace
  implicit none
  integer :: n

  do n = 0, 1
    call located_spans_step_begin(n, __FILE__, __LINE__)
    call located_spans_inside(n, __FILE__, __LINE__)
    call located_spans_step_end(__FILE__, __LINE__)
  end do
  call located_spans_bare_begin(__FILE__, __LINE__)
  call located_spans_step_begin(7, __FILE__, __LINE__)
  call located_spans_step_end(__FILE__, __LINE__)
  call located_spans_bare_end(__FILE__, __LINE__)
end program drive
