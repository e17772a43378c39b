! Bools are one byte, 0 or 1, alone and in arrays.
program drive
  use bools_trace
  implicit none
  logical, parameter :: nothing(0) = [logical ::]

  call bools_one(.true.)
  call bools_one(.false.)
  call bools_several([.true., .false., .true.], [.false., .true.])
  call bools_several([.false., .false., .false.], nothing)
end program drive
