! Signed integers of all widths, at their limits.
program drive
  use, intrinsic :: iso_c_binding, only: c_int64_t
  use signed_numbers_trace
  implicit none
  integer :: low
  integer(c_int64_t) :: lowest

  low = huge(low)
  low = -low - 1
  lowest = huge(lowest)
  lowest = -lowest - 1
  call signed_numbers_all(-128, -32768, low, lowest)
  call signed_numbers_all(-1, -1, -1, -1)
  call signed_numbers_all(0, 0, 0, 0)
  call signed_numbers_all(127, 32767, huge(low), huge(lowest))
end program drive
