! Interned strings: the same text has the same number, wherever it lies.
program drive
  use interned_texts_trace
  implicit none
  character(len=12) :: copy
  character(len=1), parameter :: nothing(0) = [character(len=1) ::]

  copy = "north"
  call interned_texts_one("north")
  call interned_texts_one("south")
  call interned_texts_one(copy)
  call interned_texts_one("")
  call interned_texts_one("néon 😀")
  call interned_texts_one("North")
  call interned_texts_two("east", "west")
  call interned_texts_two("west", "north")
  call interned_texts_several(["north", "     "], ["up   ", "up   ", "north"])
  call interned_texts_several(["up", "up"], nothing)
  call interned_texts_one("a" // achar(9) // "b" // achar(10) // "c""" // achar(92))
end program drive
