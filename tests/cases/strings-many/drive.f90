! Ten thousand interned strings, each recorded twice.
program drive
  use, intrinsic :: iso_c_binding, only: c_int64_t
  use many_strings_trace
  implicit none
  character(len=16) :: name
  integer(c_int64_t) :: n, product
  integer :: round

  do round = 0, 1
    do n = 0, 9999
      product = iand(n * 2654435761_c_int64_t, 4294967295_c_int64_t)
      write (name, "('name ', i0)") mod(product, 10000_c_int64_t)
      call many_strings_use(name, round)
    end do
  end do
end program drive
