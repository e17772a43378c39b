! Several levels.
program drive
  use several_levels_trace
  implicit none

  call several_levels_f(1)
  call several_levels_e(2)
  call several_levels_c(3)
  call several_levels_b(4)
  call several_levels_d_begin(5)
  call several_levels_a(6)
  call several_levels_d_end()
  call tumit_set_level("THREE", .true.)
  call several_levels_e(7)
end program drive
