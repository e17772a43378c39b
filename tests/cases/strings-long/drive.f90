! Long strings: what is larger than a block is dropped and counted.
program drive
  use strings_long_trace
  implicit none
  integer, parameter :: lengths(7) = [1000, 30000, 60000, 65000, 65535, 65536, 70000]
  integer :: i

  do i = 1, size(lengths)
    call strings_long_say(repeat("x", lengths(i)))
  end do
  call strings_long_done()
end program drive
