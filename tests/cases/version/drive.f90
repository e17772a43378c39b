! A spec with a version.
program drive
  use versioned_trace
  implicit none

  call versioned_tick(1)
end program drive
