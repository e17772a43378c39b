! Spans inside spans, the same one inside itself.
program drive
  use nested_trace
  implicit none

  call descend(0)

contains

  recursive subroutine descend(depth)
    integer, intent(in) :: depth
    call nested_call_begin(depth)
    if (depth == 3) then
      call nested_leaf_begin()
      call nested_leaf_end()
    else
      call descend(depth + 1)
      call descend(depth + 1)
    end if
    call nested_call_end()
  end subroutine descend
end program drive
