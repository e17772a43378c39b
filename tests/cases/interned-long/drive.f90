! A long interned string is kept up to its limit, and cut between characters beyond it.
program drive
  use interned_long_trace
  implicit none

  call interned_long_one(repeat("x", 4096))
  call interned_long_one(repeat("x", 4096) // "more")
  ! A character of two bytes lies across the limit.
  call interned_long_one(repeat("y", 4095) // "é")
end program drive
