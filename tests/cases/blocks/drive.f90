! Many records, over several blocks.
program drive
  use, intrinsic :: iso_c_binding, only: c_int64_t
  use blocks_trace
  implicit none
  integer(c_int64_t) :: n

  do n = 0, 19999
    call blocks_tick(n * n)
    if (mod(n, 3_c_int64_t) == 0) then
      call blocks_step_begin(int(n), "third")
    else
      call blocks_step_begin(int(n), "")
    end if
    call blocks_step_end()
  end do
end program drive
