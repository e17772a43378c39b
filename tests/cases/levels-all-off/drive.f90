! All levels are off: nothing is recorded.
program drive
  use all_off_trace
  implicit none

  call all_off_a(1)
  call all_off_b("name")
  call all_off_s_begin()
  call all_off_s_end()
end program drive
