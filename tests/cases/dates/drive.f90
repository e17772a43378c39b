! Dates from a user clock as parameters.
module clock
  use, intrinsic :: iso_c_binding, only: c_int64_t
  implicit none
  integer(c_int64_t) :: now = 1000
contains
  function ticks() result(date) bind(C)
    integer(c_int64_t) :: date
    date = now
  end function ticks
end module clock

program drive
  use clock
  use dates_trace
  implicit none
  integer(c_int64_t), parameter :: nothing(0) = [integer(c_int64_t) ::]
  integer(c_int64_t) :: before, after
  integer :: error

  call tumit_set_clock(ticks, 1000000_c_int64_t, "corpus", error)
  if (error /= 0) error stop "nothing was recorded before"
  before = tumit_now()
  now = now + 500
  after = tumit_now()
  call dates_one(before)
  call dates_one(after)
  call dates_one(0_c_int64_t)
  call dates_one(-1_c_int64_t)
  call dates_several([before, after], [after, before, after])
  call dates_several([after, after], nothing)
end program drive
