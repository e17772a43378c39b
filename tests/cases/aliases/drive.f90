! Named types: of numbers, enums, arrays, and of other named types.
program drive
  use, intrinsic :: iso_c_binding, only: c_int16_t
  use aliases_trace
  implicit none
  integer(c_int16_t), parameter :: nowhere(0) = [integer(c_int16_t) ::]
  character(len=1), parameter :: nobody(0) = [character(len=1) ::]

  call aliases_moved(1, 2, [0.5d0, -1d0, 2.25d0])
  call aliases_visited([3, 2, 1], [aliases_color_green, aliases_color_red], "a", ["a", "b"], aliases_color_green)
  call aliases_visited(nowhere, [aliases_color_red, aliases_color_red], "c", nobody, aliases_color_red)
end program drive
