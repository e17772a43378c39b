! Long variable arrays: records that are larger than a slot are truncated.
program drive
  use, intrinsic :: iso_c_binding, only: c_double, c_int8_t
  use counted_long_trace
  implicit none
  integer, parameter :: small(6) = [255, 256, 65000, 65535, 65536, 70000], wide(3) = [8000, 8192, 70000]
  integer, parameter :: values(6) = [-1, 0, -24, -1, 0, 112]
  integer(c_int8_t) :: bytes(70000)
  real(c_double) :: doubles(70000)
  integer :: i

  do i = 1, size(small)
    bytes = int(values(i), c_int8_t)
    call counted_long_small(bytes(:small(i)))
  end do
  doubles = 0.5d0
  do i = 1, size(wide)
    call counted_long_wide(doubles(:wide(i)))
  end do
  call counted_long_done()
end program drive
