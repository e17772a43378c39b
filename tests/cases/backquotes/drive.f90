! Names in backquotes are the same names.
program drive
  use backquotes_trace
  implicit none

  call backquotes_not(1, 2)
  call backquotes_event(.true., .false., backquotes_mode_true)
  call backquotes_rule_begin(3)
  call backquotes_event(.false., .true., backquotes_mode_plain)
  call backquotes_rule_end()
end program drive
