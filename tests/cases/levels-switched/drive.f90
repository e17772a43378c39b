! Levels that are switched while the program runs.
program drive
  use switched_trace
  implicit none

  call all(1)
  call tumit_set_level("OFF_LEVEL", .true.)
  call all(2)
  call tumit_set_level("ON_LEVEL", .false.)
  call all(3)
  call tumit_set_level("off_level", .false.)
  call all(4)
  call tumit_set_level("all", .true.)
  call all(5)
  call tumit_set_level("switched.ON_LEVEL", .false.)
  call all(6)
  call tumit_set_level("other.OFF_LEVEL", .false.)
  call tumit_set_level("NO_SUCH_LEVEL", .true.)
  call all(7)
  call tumit_set_level("ALL", .false.)
  call all(8)

contains

  subroutine all(n)
    integer, intent(in) :: n
    call switched_a(n)
    call switched_b(n)
    call switched_s_begin(n)
    call switched_t_begin(n)
    call switched_t_end()
    call switched_s_end()
  end subroutine all
end program drive
