! Pointers: their addresses, alone and in arrays.
program drive
  use, intrinsic :: iso_c_binding, only: c_intptr_t, c_null_ptr, c_ptr
  use pointers_trace
  implicit none
  integer(c_intptr_t), parameter :: one = 1
  type(c_ptr) :: nothing(0)

  call pointers_one(c_null_ptr)
  call pointers_one(place(4660_c_intptr_t))
  call pointers_one(place(-one))
  call pointers_several([place(one), place(2 * one)], [place(3 * one), c_null_ptr, place(shiftl(one, 47))])
  call pointers_several([c_null_ptr, place(8 * one)], nothing)

contains

  type(c_ptr) function place(address)
    integer(c_intptr_t), intent(in) :: address
    place = transfer(address, c_null_ptr)
  end function place
end program drive
