! Other files, two of which use a third one.
program drive
  use application_trace
  implicit none

  call application_step(1, application_mood_hasty)
  call application_left(2)
  call application_right(3, application_mood_calm)
  call application_common([4, 5])
  call tumit_set_level("RIGHT", .true.)
  call application_both_begin()
  call application_right(6, application_mood_hasty)
  call application_both_end()
end program drive
