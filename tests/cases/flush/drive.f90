! A flush in the middle of the program.
program drive
  use flushed_trace
  implicit none

  call tumit_flush()
  call flushed_tick(1, "before")
  call tumit_flush()
  call tumit_flush()
  call flushed_step_begin()
  call flushed_tick(2, "after")
  call tumit_flush()
  call flushed_tick(3, "before")
  call flushed_step_end()
end program drive
