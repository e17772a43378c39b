! Documentation with odd signs in every place where it can stand.
program drive
  use docs_trace
  implicit none

  call docs_tick(1, docs_color_green)
  call docs_here(2, __FILE__, __LINE__)
  call docs_step_begin([3, 4])
  call docs_tick(5, docs_color_red)
  call docs_step_end()
end program drive
