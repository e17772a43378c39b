! A counter of 32 bits that wraps.
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
  use wrap_trace
  implicit none
  integer(c_int64_t), parameter :: dates(0:9) = [ &
    5_c_int64_t, 4294967290_c_int64_t, 7_c_int64_t, 2000000000_c_int64_t, 4000000000_c_int64_t, 0_c_int64_t, &
    3_c_int64_t, 2000000000_c_int64_t, 1000000000_c_int64_t, 2000000001_c_int64_t]
  integer :: n

  call tumit_set_clock(ticks, 1000000000_c_int64_t, "wrap")
  do n = 0, 9
    now = dates(n)
    call wrap_tick(n)
  end do
end program drive
