! Ends of spans with parameters, and ends without.
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
  use ends_trace
  implicit none
  integer(c_int64_t), parameter :: start = 1000000
  integer :: n

  call tumit_set_clock(ticks, 1000000_c_int64_t, "ends")
  call ends_wait_begin(1)
  now = start + 10
  call ends_wait_end(-3, 2_c_int64_t**40)
  call ends_wait_begin(2)
  now = start + 20
  call ends_wait_end_absent()
  now = start + 30
  call ends_wait_begin(3)
  call ends_probe_begin()
  call ends_tick()
  now = start + 40
  call ends_probe_end(0)
  call ends_wait_end(0, 0)
  call ends_probe_begin()
  call ends_probe_end_absent()
  now = start + 50
  do n = 0, 1
    call ends_load_begin("input", __FILE__, __LINE__)
    if (n == 0) then
      call ends_load_end("done", "a text", [7, 8], __FILE__, __LINE__)
    else
      call ends_load_end_absent(__FILE__, __LINE__)
    end if
  end do
  call ends_fetch_begin(9, "a")
  call ends_placed_begin(-1, __FILE__, __LINE__)
  now = start + 60
  call ends_placed_end(-1, .true., __FILE__, __LINE__)
  call ends_fetch_end(9, 404)
  now = start + 70
  call ends_placed_begin(5, __FILE__, __LINE__)
  call ends_fetch_begin(9, "b")
  now = start + 80
  call ends_fetch_end_absent(9)
  call ends_placed_end_absent(5, __FILE__, __LINE__)
end program drive
