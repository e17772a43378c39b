! Unsigned integers of all widths. Values above the range of a kind become negative numbers.
program drive
  use, intrinsic :: iso_c_binding, only: c_int64_t
  use unsigned_numbers_trace
  implicit none

  call unsigned_numbers_bytes1(0)
  call unsigned_numbers_bytes1(1)
  call unsigned_numbers_bytes1(255)
  call unsigned_numbers_bytes2(0)
  call unsigned_numbers_bytes2(256)
  call unsigned_numbers_bytes2(65535)
  call unsigned_numbers_bytes4(0)
  call unsigned_numbers_bytes4(65536)
  call unsigned_numbers_bytes4(-1)
  call unsigned_numbers_bytes8(0)
  call unsigned_numbers_bytes8(4294967296_c_int64_t)
  call unsigned_numbers_bytes8(-1)
  call unsigned_numbers_mixed(1, 2, 3, 4, 5)
end program drive
