! Fortran has no guards. The ends are called in the order in which blocks end in other languages.
program drive
  use guards_trace
  implicit none
  integer :: i

  call guards_step_begin(1)
  call guards_bare_begin()
  call guards_tick()
  call guards_bare_end()
  call guards_step_end()
  call guards_step_begin(2)
  call guards_tick()
  call guards_step_end()
  do i = 0, 1
    call guards_placed_begin("loop", __FILE__, __LINE__)
    call guards_placed_end(__FILE__, __LINE__)
  end do
  call guards_task_part_begin(7, 1)
  call guards_step_begin(3)
  call guards_tick()
  call guards_step_end()
  call guards_task_part_end(7)
end program drive
