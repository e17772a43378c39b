! Rank, size and id of a job, from the environment variables of launchers.
program drive
  use ranks_trace
  implicit none

  call ranks_tick(1)
end program drive
