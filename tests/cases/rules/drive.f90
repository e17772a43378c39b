! Rules of every verb, seen through the converter.
module clock
  use, intrinsic :: iso_c_binding, only: c_int64_t
  implicit none
  integer(c_int64_t) :: now = 1000000
contains
  function ticks() result(date) bind(C)
    integer(c_int64_t) :: date
    date = now
  end function ticks
end module clock

program drive
  use clock
  use ruled_trace
  implicit none
  integer(c_int64_t), parameter :: start = 1000000
  integer(c_int64_t) :: since

  call tumit_set_clock(ticks, 1000000_c_int64_t, "rules")
  call ruled_start(0, "server")
  call ruled_start(1, "client")
  now = start + 10
  call ruled_enter(0, ruled_mode_busy)
  call ruled_load(0, 0.5d0)
  now = start + 20
  call ruled_send(0, 1, 77, 1024)
  since = tumit_now()
  now = start + 30
  call ruled_receive(1, 77, since)
  call ruled_load(0, -1d0)
  call ruled_say(1, "hello", [7, 8])
  now = start + 40
  call ruled_leave(0)
  call ruled_stop(0)
  now = start + 50
  call ruled_stop(1)
end program drive
