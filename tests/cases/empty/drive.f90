! Events and spans without parameters.
program drive
  use empty_trace
  implicit none

  call empty_semicolon()
  call empty_braces()
  call empty_nothing_begin()
  call empty_described()
  call empty_nothing_else_begin()
  call empty_nothing_else_end()
  call empty_nothing_end()
end program drive
