! Fixed arrays of every kind of number: of the kind of their size, or of default integers.
program drive
  use, intrinsic :: iso_c_binding, only: c_int8_t, c_int16_t, c_int32_t, c_int64_t, c_double
  use fixed_numbers_trace
  implicit none
  integer(c_int8_t) :: low8
  integer(c_int16_t) :: low16
  integer(c_int32_t) :: low32
  integer(c_int64_t) :: low64
  real(c_double), parameter :: twice = 0
  integer :: n

  low8 = huge(low8)
  low8 = -low8 - 1_c_int8_t
  low16 = huge(low16)
  low16 = -low16 - 1_c_int16_t
  low32 = huge(low32)
  low32 = -low32 - 1
  low64 = huge(low64)
  low64 = -low64 - 1
  call fixed_numbers_unsigned4([1, 2, 255], [3, 65535], [4, -1], [5, -1])
  call fixed_numbers_signed4([1_c_int8_t, low8, huge(low8)], [low16, huge(low16)], [low32, huge(low32)], &
                             [low64, huge(low64)])
  call fixed_numbers_floating([0.5, -0.0], [-1d300, transfer(int(z"7FF0000000000000", c_int64_t), twice)])
  call fixed_numbers_odd([7], [(-n, n = 0, 99)])
end program drive
