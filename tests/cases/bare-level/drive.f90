! A level without events next to one with events.
program drive
  use bare_level_trace
  implicit none

  call tumit_set_level("NOTHING", .false.)
  call bare_level_tick(1)
  call tumit_set_level("NOTHING_OFF", .true.)
  call bare_level_tick(2)
end program drive
