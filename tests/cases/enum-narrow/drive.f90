! An enum of few values takes one byte; it may have a single value.
program drive
  use narrow_trace
  implicit none

  call narrow_paint(narrow_color_red, narrow_only_one)
  call narrow_paint(narrow_color_green, narrow_only_one)
  call narrow_paint(narrow_color_blue, narrow_only_one)
  call narrow_paint(narrow_color_red, narrow_only_one)
end program drive
