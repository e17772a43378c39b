! Streams have labels: given before the first record, after it, twice.
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

module work
  use, intrinsic :: iso_c_binding
  use clock
  use labelled_trace
  implicit none
  character(len=6), parameter :: names(3) = ["first ", "second", "third "]
contains
  subroutine steps(name)
    character(len=*), intent(in) :: name
    integer :: n
    call tumit_set_thread_name(name)
    if (name /= "third") call tumit_set_stream_label("io")
    do n = 0, 1
      call labelled_step_begin(n)
      now = now + 100
      call labelled_step_end()
    end do
    if (name == "first") call tumit_set_stream_label("compute")
  end subroutine steps

  function run(argument) result(nothing) bind(C)
    type(c_ptr), value :: argument
    type(c_ptr) :: nothing
    integer(c_int), pointer :: number
    call c_f_pointer(argument, number)
    call steps(trim(names(number)))
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
  integer(c_int), target :: numbers(3) = [1, 2, 3]
  integer(c_long) :: thread
  integer :: i

  call tumit_set_clock(ticks, 1000_c_int64_t, "labels")
  do i = 1, size(numbers)
    if (pthread_create(thread, c_null_ptr, c_funloc(run), c_loc(numbers(i))) /= 0) error stop "no thread"
    if (pthread_join(thread, c_null_ptr) /= 0) error stop "no thread"
  end do
end program drive
