! A program that ends in a thread, without the end of the main program.
module work
  use, intrinsic :: iso_c_binding
  use exits_trace
  implicit none
  interface
    subroutine exit_process(status) bind(C, name="exit")
      import :: c_int
      integer(c_int), value :: status
    end subroutine exit_process
  end interface
contains
  function run(argument) result(nothing) bind(C)
    type(c_ptr), value :: argument
    type(c_ptr) :: nothing
    call tumit_set_thread_name("last")
    call exits_step_begin(2)
    call exits_tick(2)
    call exit_process(0_c_int)
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

  call exits_step_begin(1)
  call exits_tick(1)
  if (pthread_create(thread, c_null_ptr, c_funloc(run), c_null_ptr) /= 0) error stop "no thread"
  if (pthread_join(thread, c_null_ptr) /= 0) error stop "no thread"
  call exits_tick(3)
  error stop "never reached"
end program drive
