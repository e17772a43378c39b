! Variable arrays of every kind of number.
program drive
  use, intrinsic :: iso_c_binding, only: c_double, c_float, c_int8_t, c_int16_t, c_int32_t, c_int64_t
  use counted_numbers_trace
  implicit none
  integer(c_int8_t), parameter :: none8(0) = [integer(c_int8_t) ::]
  integer(c_int16_t), parameter :: none16(0) = [integer(c_int16_t) ::]
  integer(c_int32_t), parameter :: none32(0) = [integer(c_int32_t) ::]
  integer(c_int64_t), parameter :: none64(0) = [integer(c_int64_t) ::]
  integer(c_int32_t) :: low32
  integer(c_int64_t) :: low64
  real(c_float), parameter :: single = 0
  real(c_double), parameter :: twice = 0
  integer :: n

  low32 = huge(low32)
  low32 = -low32 - 1
  low64 = huge(low64)
  low64 = -low64 - 1
  call counted_numbers_unsigned4([1, 2, 255], [65535], [4, -1], [-1])
  call counted_numbers_unsigned4(none8, none16, none32, none64)
  call counted_numbers_signed4([-128, -1], [-32768], [low32, 0, huge(low32)], [low64])
  call counted_numbers_floating([0.5, -0.0, transfer(int(z"7F800000"), single)], &
                                [transfer(-shiftl(1_c_int64_t, 52), twice)])
  call counted_numbers_between(1, [10, 20, 30], 2)
  call counted_numbers_between(3, none32, 4)
  call counted_numbers_between(5, [(n * n, n = 0, 1999)], 6)
end program drive
