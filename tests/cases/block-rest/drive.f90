! Records that are larger than the rest of a block begin the next one.
program drive
  use block_rest_trace
  implicit none
  character(len=64000) :: text
  integer :: n

  do n = 1, 64000
    text(n:n) = achar(iachar("a") + mod(n - 1, 26))
  end do
  do n = 0, 19
    call block_rest_large(text(:mod(n * 3331, 64000)))
    call block_rest_small(n)
  end do
  do n = 0, 2
    call block_rest_large(text(:40000))
    call block_rest_small(n)
  end do
end program drive
