! Numbers of enum values: explicit, or one more than the previous number.
program drive
  use numbered_trace
  implicit none
  integer, parameter :: nothing(0) = [integer ::]

  call numbered_changed(numbered_state_idle, numbered_code_ok)
  call numbered_changed(numbered_state_busy, numbered_code_failed)
  call numbered_changed(numbered_state_lost, numbered_code_odd)
  call numbered_changed(numbered_state_found, numbered_code_small)
  call numbered_changed(numbered_state_first, numbered_code_ok)
  call numbered_changed(numbered_state_last, numbered_code_ok)
  call numbered_several([numbered_state_last, numbered_state_first, numbered_state_idle], &
                        [numbered_code_odd, numbered_code_small, numbered_code_failed])
  call numbered_several([numbered_state_busy, numbered_state_busy, numbered_state_busy], nothing)
end program drive
