! A user clock.
module clock
  use, intrinsic :: iso_c_binding, only: c_int64_t
  implicit none
  integer(c_int64_t) :: now = 7
contains
  function ticks() result(date) bind(C)
    integer(c_int64_t) :: date
    date = now
  end function ticks
end module clock

program drive
  use clock
  use own_clock_trace
  implicit none
  integer :: n, error

  call tumit_set_clock(ticks, 1000_c_int64_t, "steps", error)
  if (error /= 0) error stop "nothing was recorded before"
  do n = 0, 9
    call own_clock_tick(n)
    now = now + n
    call own_clock_step_begin(tumit_now())
    now = now + 100
    call own_clock_step_end()
  end do
  call tumit_set_clock(ticks, 1_c_int64_t, "too late", error)
  if (error == 0) error stop "it is too late"
  call own_clock_tick(10)
end program drive
