! Spans in several threads at once.
module work
  use, intrinsic :: iso_c_binding
  use span_threads_trace
  implicit none
contains
  function run(argument) result(nothing) bind(C)
    type(c_ptr), value :: argument
    type(c_ptr) :: nothing
    integer(c_int), pointer :: number
    character(len=8) :: name
    integer :: round
    call c_f_pointer(argument, number)
    write (name, "('worker ', i1)") number
    call tumit_set_thread_name(name)
    call span_threads_outer_begin(number)
    do round = 0, 4
      call span_threads_work_begin(number, round)
      call span_threads_tick(round * number)
      call span_threads_work_end()
    end do
    call span_threads_outer_end()
    nothing = c_null_ptr
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
  integer(c_long) :: threads(4)
  integer(c_int), target :: numbers(4) = [1, 2, 3, 4]
  integer :: i

  call span_threads_tick(0)
  do i = 1, 4
    if (pthread_create(threads(i), c_null_ptr, c_funloc(run), c_loc(numbers(i))) /= 0) error stop "no thread"
  end do
  do i = 1, 4
    if (pthread_join(threads(i), c_null_ptr) /= 0) error stop "no thread"
  end do
  call span_threads_tick(1)
end program drive
