! The largest record of a fixed size: 32 KiB with id and delta.
program drive
  use, intrinsic :: iso_c_binding, only: c_int8_t, c_int64_t
  use largest_trace
  implicit none
  integer(c_int64_t) :: words(0:4094)
  integer :: bytes(0:32761), n, round

  do round = 0, 3
    bytes = [(ieor(mod(n, 251), round), n = 0, 32761)]
    words = [(int(n, c_int64_t) * round, n = 0, 4094)]
    call largest_huge(bytes)
    call largest_tick(round)
    call largest_wide(words)
  end do
end program drive
