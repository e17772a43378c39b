! Floats: signed zeros, infinities, not a number, the smallest and the largest.
program drive
  use, intrinsic :: iso_c_binding, only: c_double, c_float, c_int64_t
  use floats_trace
  implicit none
  real(c_float), parameter :: single = 0
  real(c_double), parameter :: twice = 0

  call floats_pair(0.0, 0d0)
  call floats_pair(-0.0, -0d0)
  call floats_pair(0.1, 0.1d0)
  call floats_pair(bits4(int(z"7F800000")), bits8(int(z"7FF0000000000000", c_int64_t)))
  call floats_pair(-bits4(int(z"7F800000")), -bits8(int(z"7FF0000000000000", c_int64_t)))
  call floats_pair(huge(single), huge(twice))
  call floats_pair(tiny(single), tiny(twice))
  ! NaN, and NaN with other bits: the bits are kept.
  call floats_pair(bits4(int(z"7FC00000")), bits8(int(z"7FF8000000000000", c_int64_t)))
  call floats_pair(bits4(-int(z"003FEDCC")), bits8(-int(z"0007FFFFFFFFEDCC", c_int64_t)))
  ! The smallest of all.
  call floats_pair(bits4(1), bits8(1_c_int64_t))

contains

  real(c_float) function bits4(bits)
    integer, intent(in) :: bits
    bits4 = transfer(bits, single)
  end function bits4

  real(c_double) function bits8(bits)
    integer(c_int64_t), intent(in) :: bits
    bits8 = transfer(bits, twice)
  end function bits8
end program drive
