! More threads than one, after one another and at once.
module work
  use, intrinsic :: iso_c_binding
  use threads_trace
  implicit none
contains
  function run(argument) result(nothing) bind(C)
    type(c_ptr), value :: argument
    type(c_ptr) :: nothing
    integer(c_int), pointer :: number
    character(len=9) :: name
    integer :: n
    call c_f_pointer(argument, number)
    write (name, "('thread ', i2.2)") number
    call tumit_set_thread_name(name)
    do n = 0, 499
      call threads_tick(number, n)
      if (mod(n, 50) == 0) call threads_text(repeat("x", number * 10))
    end do
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
  integer(c_long) :: threads(0:31)
  integer(c_int), target :: numbers(0:31)
  integer :: i

  do i = 0, 31
    numbers(i) = i
    if (pthread_create(threads(i), c_null_ptr, c_funloc(run), c_loc(numbers(i))) /= 0) error stop "no thread"
    if (i < 20) then
      if (pthread_join(threads(i), c_null_ptr) /= 0) error stop "no thread"
    end if
  end do
  do i = 20, 31
    if (pthread_join(threads(i), c_null_ptr) /= 0) error stop "no thread"
  end do
end program drive
