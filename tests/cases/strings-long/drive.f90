! Long strings: what is larger than a block is dropped and counted.
program drive
  use strings_long_trace
  implicit none
  integer, parameter :: lengths(6) = [1000, 30000, 60000, 65000, 65535, 65536]
  integer :: i

  do i = 1, size(lengths)
    call strings_long_say(repeat("x", lengths(i)))
  end do
  call strings_long_done()
end program drive
