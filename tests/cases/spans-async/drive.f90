! Async spans: begins and ends of parts, with the number of their task.
module work
  use, intrinsic :: iso_c_binding
  use tasks_trace
  implicit none
contains
  function run(argument) result(nothing) bind(C)
    type(c_ptr), value :: argument
    type(c_ptr) :: nothing
    call tumit_set_thread_name("other")
    call tasks_fetch_begin(1, "a", 10)
    call tasks_tick(2)
    call tasks_poll_begin(-1)
    call tasks_poll_end(-1)
    call tasks_fetch_end(1)
    nothing = argument
  end function run
end module work

program drive
  use work
  implicit none
  interface
    integer(c_int) function pthread_create(thread, attributes, start, argument) bind(C)
      import :: c_funptr, c_int, c_long, c_ptr
      integer(c_long), intent(out) :: thread
      type(c_ptr), value :: attributes, argument
      type(c_funptr), value :: start
    end function pthread_create
    integer(c_int) function pthread_join(thread, answer) bind(C)
      import :: c_int, c_long, c_ptr
      integer(c_long), value :: thread
      type(c_ptr), value :: answer
    end function pthread_join
  end interface
  integer(c_long) :: thread

  call tasks_fetch_begin(1, "a", 10)
  call tasks_tick(1)
  call tasks_fetch_begin(2, "b", 20)
  call tasks_fetch_end(2)
  call tasks_fetch_end(1)
  if (pthread_create(thread, c_null_ptr, c_funloc(run), c_null_ptr) /= 0) error stop "no thread"
  if (pthread_join(thread, c_null_ptr) /= 0) error stop "no thread"
  call tasks_fetch_begin(2, "b", 20)
  call tasks_poll_begin(0)
  call tasks_poll_end(0)
  call tasks_placed_begin(3, 4, __FILE__, __LINE__)
  call tasks_placed_end(3, __FILE__, __LINE__)
  call tasks_fetch_end(2)
end program drive
