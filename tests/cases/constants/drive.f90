! Constants as lengths of arrays.
program drive
  use constants_trace
  implicit none
  integer :: n

  call constants_arrays([1, 2], [(n * 100, n = 0, 9)], [(-n, n = 0, 15)], [.true., .false., .true., .false., .true.])
end program drive
