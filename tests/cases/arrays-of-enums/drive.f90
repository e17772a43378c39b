! Arrays of enums, narrow and wide, fixed and variable.
program drive
  use enum_arrays_trace
  implicit none
  integer, parameter :: nothing(0) = [integer ::]
  integer, parameter :: sizes(2) = [enum_arrays_wide_high, enum_arrays_wide_low]
  integer, parameter :: colors(4) = [enum_arrays_color_blue, enum_arrays_color_red, enum_arrays_color_green, &
                                     enum_arrays_color_green]
  integer :: high(3)

  high = enum_arrays_wide_high
  call enum_arrays_fixed(colors, sizes)
  call enum_arrays_counted(colors, sizes)
  call enum_arrays_counted(colors(:1), nothing)
  call enum_arrays_counted(nothing, high)
end program drive
