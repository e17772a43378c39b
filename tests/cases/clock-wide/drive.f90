! Dates far apart.
module clock
  use, intrinsic :: iso_c_binding, only: c_int64_t
  implicit none
  integer(c_int64_t) :: now = 0
contains
  function ticks() result(date) bind(C)
    integer(c_int64_t) :: date
    date = now
  end function ticks
end module clock

program drive
  use clock
  use far_dates_trace
  implicit none
  integer(c_int64_t), parameter :: one = 1, delta = 4294967295_c_int64_t
  integer(c_int64_t) :: dates(0:8)
  integer :: n

  ! The last two are 2**63 and 2**64 - 2.
  dates = [0 * one, delta, 2 * delta, 3 * delta + 1, 3 * delta + 2, shiftl(one, 40), shiftl(one, 40) + delta, &
           shiftl(one, 63), -2 * one]
  call tumit_set_clock(ticks, 1000000000_c_int64_t, "far")
  do n = 0, 8
    now = dates(n)
    call far_dates_tick(n)
    call far_dates_tick(100 + n)
  end do
end program drive
