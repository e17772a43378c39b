! Bytes: any values, zeros among them, none at all; from arrays of bytes, or from characters.
program drive
  use, intrinsic :: iso_c_binding, only: c_int8_t
  use raw_bytes_trace
  implicit none
  integer(c_int8_t), parameter :: nothing(0) = [integer(c_int8_t) ::]
  integer(c_int8_t) :: values(0:255), many(20000)
  integer :: i

  values = [(int(i, c_int8_t), i = 0, 127), (int(i, c_int8_t), i = -128, -1)]
  many = -1
  call raw_bytes_one(nothing)
  call raw_bytes_one(values(0:0))
  call raw_bytes_one(values)
  call raw_bytes_one(many)
  call raw_bytes_two("left" // achar(0), 300, achar(0) // "right")
  call raw_bytes_two(nothing, 0, values(0:2))
end program drive
