! Bytes: any values, zeros among them, none at all; from arrays of bytes, or from characters.
program drive
  use, intrinsic :: iso_c_binding, only: c_int8_t
  use raw_bytes_trace
  implicit none
  integer(c_int8_t), parameter :: nothing(0) = [integer(c_int8_t) ::]
  integer(c_int8_t) :: values(0:255), many(20000)
  integer :: i

  do i = 0, 255
    values(i) = int(i - merge(0, 256, i < 128), c_int8_t)
  end do
  many = -1
  call raw_bytes_one(nothing)
  call raw_bytes_one(values(0:0))
  call raw_bytes_one(values)
  call raw_bytes_one(many)
  call raw_bytes_two("left" // achar(0), 300, achar(0) // "right")
  call raw_bytes_two(nothing, 0, values(0:2))
end program drive
