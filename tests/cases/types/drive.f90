! The same calls as drive.rs.
program drive
  use, intrinsic :: iso_c_binding, only: c_int8_t, c_int16_t, c_int64_t, c_intptr_t, c_null_ptr
  use types_trace
  implicit none
  integer(c_int64_t) :: lowest
  integer(c_int8_t), parameter :: no_bytes(0) = [integer(c_int8_t) ::]
  integer(c_int16_t), parameter :: no_shorts(0) = [integer(c_int16_t) ::]
  integer(c_int64_t), parameter :: no_longs(0) = [integer(c_int64_t) ::]
  integer, parameter :: nothing(0) = [integer ::]
  character(len=1), parameter :: nobody(0) = [character(len=1) ::]
  integer :: colors(2), low, n
  character(len=8) :: name
  integer(c_int64_t) :: before

  lowest = huge(lowest)
  lowest = -lowest - 1
  low = huge(low)
  low = -low - 1
  colors = [types_color_blue, types_color_red]
  name = "north"
  before = tumit_now()

  call types_numbers(255, 65535, -1, -1, -128, -32768, low, lowest)
  call types_numbers(1, 2, 3, 4, -1, -2, -3, h=-4)
  call types_floats(1.5, -2.25d0)
  call types_others(.true., c_null_ptr, types_color_green)
  call types_others(.false., transfer(int(z"1234", c_intptr_t), c_null_ptr), types_color_blue)
  call types_texts(name, "héllo", [0_c_int8_t, 1_c_int8_t, 2_c_int8_t])
  call types_texts("south", "", no_bytes)
  call types_texts(name(1:6), "again   ", "x")
  call types_texts("", "nobody", "")
  call types_fixed([1, 2, 255], [-0.5d0, 1d300], colors, [.true., .false.])
  call types_counted([1, 2, 3, 65535], [lowest, -1_c_int64_t], colors, ["north", "     ", "south"])
  call types_counted(no_shorts, no_longs, nothing, nobody)
  call types_dated(before)
  call types_bare()
  call types_placed(7, __FILE__, __LINE__)
  call types_placed_bare(line=__LINE__, file=__FILE__)
  call types_outer_begin()
  do n = 0, 2
    call types_step_begin(n)
    call types_silent(n)
    call types_loud(n)
    call types_step_end()
  end do
  call types_outer_end()
  call tumit_set_level("QUIET", .true.)
  call tumit_set_level("LOUD", .false.)
  call types_silent(100)
  call types_loud(100)
end program drive
