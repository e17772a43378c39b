! Levels selected by TUMIT_LEVELS.
program drive
  use environment_trace
  implicit none
  integer :: n

  do n = 0, 1
    call environment_one(n)
    call environment_two(n)
    call environment_three(n)
  end do
  ! The choice of the program wins.
  call tumit_set_level("THIRD", .true.)
  call environment_three(100)
end program drive
