! Long strings: records that are larger than a slot are truncated.
program drive
  use strings_long_trace
  implicit none
  integer, parameter :: lengths(6) = [1000, 30000, 60000, 65000, 65535, 65536]
  character(len=64000) :: accents
  integer :: i

  do i = 1, size(lengths)
    call strings_long_say(repeat("x", lengths(i)))
  end do
  accents = repeat(char(195) // char(169), 32000)
  call strings_long_three("short", accents, "x", "y")
  call strings_long_three("", repeat("x", 40000), accents, repeat("x", 300))
  call strings_long_three("both", repeat("x", 39999), accents, repeat("x", 30000))
  call strings_long_done()
end program drive
