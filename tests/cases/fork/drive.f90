! A process that forks.
program drive
  use, intrinsic :: iso_c_binding, only: c_int
  use forks_trace
  implicit none
  interface
    integer(c_int) function fork() bind(C)
      import :: c_int
    end function fork
    integer(c_int) function waitpid(process, status, options) bind(C)
      import :: c_int
      integer(c_int), value :: process, options
      integer(c_int), intent(out) :: status
    end function waitpid
    subroutine exit_process(status) bind(C, name="exit")
      import :: c_int
      integer(c_int), value :: status
    end subroutine exit_process
  end interface
  integer(c_int) :: child, status

  call forks_named("before")
  call forks_tick(1)
  call forks_step_begin()
  child = fork()
  if (child == 0) then
    call forks_tick(2)
    call forks_named("before")
    call forks_named("child")
    call forks_step_end()
    call exit_process(0_c_int)
  end if
  if (waitpid(child, status, 0_c_int) /= child .or. status /= 0) error stop "the child failed"
  call forks_tick(3)
  call forks_named("parent")
  call forks_step_end()
end program drive
