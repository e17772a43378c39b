
!> Switches a level (`APP`, or `TRACE.APP`) while the program runs. `found`: how many levels have this name.
subroutine tumit_set_level(name, on, found)
  character(len=*), intent(in) :: name
  logical, intent(in) :: on
  integer, intent(out), optional :: found
  integer(c_int) :: levels
  levels = tumit_set_level_c(name, len(name, c_size_t), merge(1_c_int, 0_c_int, on))
  if (present(found)) found = levels
end subroutine tumit_set_level

!> Names the calling thread in the trace.
subroutine tumit_set_thread_name(name)
  character(len=*), intent(in) :: name
  call tumit_set_thread_name_c(name, len(name, c_size_t))
end subroutine tumit_set_thread_name

!> Dates are taken from `ticks` (`hz` of them a second) instead of the processor's clock. Before the first record, else
!! `error` is not 0. `domain` names the clock: processes whose clocks have one name need no correction.
subroutine tumit_set_clock(ticks, hz, domain, error)
  procedure(tumit_clock) :: ticks
  integer(c_int64_t), intent(in) :: hz
  character(len=*), intent(in) :: domain
  integer, intent(out), optional :: error
  integer(c_int) :: failed
  failed = tumit_set_clock_c(c_funloc(ticks), hz, domain, len(domain, c_size_t))
  if (present(error)) error = failed
end subroutine tumit_set_clock
