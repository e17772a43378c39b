! Names of threads.
module work
  use, intrinsic :: iso_c_binding
  use thread_names_trace
  implicit none
  interface
    integer(c_long) function pthread_self() bind(C)
      import :: c_long
    end function pthread_self
    integer(c_int) function pthread_setname_np(thread, name) bind(C)
      import :: c_char, c_int, c_long
      integer(c_long), value :: thread
      character(kind=c_char), intent(in) :: name(*)
    end function pthread_setname_np
  end interface
contains
  function run(argument) result(nothing) bind(C)
    type(c_ptr), value :: argument
    type(c_ptr) :: nothing
    integer(c_int), pointer :: number
    integer :: error
    call c_f_pointer(argument, number)
    error = 0
    select case (number)
    case (1)
      error = pthread_setname_np(pthread_self(), "of the system" // c_null_char)
    case (3)
      call tumit_set_thread_name("before")
    case (6)
      error = pthread_setname_np(pthread_self(), "replaced" // c_null_char)
      call tumit_set_thread_name("réseau 世界")
    case (7)
      call tumit_set_thread_name("forty-seven bytes are kept of the name of a threadpool")
    case (8)
      ! The 47th and the 48th byte are one character.
      call tumit_set_thread_name("between characters a name is cut, not in thémés and others")
    end select
    if (error /= 0) error stop "no name"
    call thread_names_tick(number)
    if (number == 4) then
      call tumit_set_thread_name("after")
      call thread_names_tick(5)
      call tumit_set_thread_name("after, again")
    end if
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
  integer(c_int), target :: numbers(7) = [1, 2, 3, 4, 6, 7, 8]
  integer(c_long) :: thread
  integer :: i

  call thread_names_tick(0)
  do i = 1, size(numbers)
    if (pthread_create(thread, c_null_ptr, c_funloc(run), c_loc(numbers(i))) /= 0) error stop "no thread"
    if (pthread_join(thread, c_null_ptr) /= 0) error stop "no thread"
  end do
end program drive
