! The rank, the size and the id of a job, as launchers tell them.
program drive
  use ranks_trace
  implicit none

  call ranks_tick(1)
end program drive
