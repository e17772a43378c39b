! A clock that goes back.
module clock
  use, intrinsic :: iso_c_binding, only: c_int64_t
  implicit none
  integer(c_int64_t) :: now = 5000
contains
  function ticks() result(date) bind(C)
    integer(c_int64_t) :: date
    date = now
  end function ticks
end module clock

program drive
  use clock
  use back_trace
  implicit none
  integer, parameter :: dates(0:8) = [5000, 6000, 5500, 5000, 0, 5999, 6000, 6001, 6000]
  integer :: n

  call tumit_set_clock(ticks, 1000_c_int64_t, "back")
  do n = 0, 8
    now = dates(n)
    call back_tick(n)
    call back_step_begin()
    call back_step_end()
  end do
end program drive
