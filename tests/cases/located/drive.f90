! Events with their source position: file and line are arguments here.
program drive
  use located_trace
  implicit none
  integer :: n

  do n = 0, 2
    call located_here(n, __FILE__, __LINE__)
  end do
  call located_here(10, __FILE__, __LINE__)
  call located_bare(__FILE__, __LINE__)
  call located_plain(1)
  call located_full("name", "text", [1, 2], achar(0) // achar(1), .true., __FILE__, __LINE__)
  do n = 0, 1
    call located_bare(__FILE__, __LINE__)
  end do
  call located_here(20, __FILE__, __LINE__)
end program drive
