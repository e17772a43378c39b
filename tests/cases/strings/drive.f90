! Strings: empty, of one byte, with characters of several bytes and of control.
program drive
  use strings_trace
  implicit none
  character(len=20) :: filled

  call strings_say("")
  call strings_say("x")
  call strings_say("héllo 世界 😀")
  call strings_say("a line" // achar(10) // achar(9) // "and ""another"" " // achar(92) // " " // achar(127))
  call strings_say(repeat("abcdefghij", 100))
  filled = "left"
  call strings_both(filled, 7, "right")
  call strings_both("", 0, "")
  call strings_both("blank inside", 1, " blank before")
end program drive
