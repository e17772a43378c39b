! A level that the generator leaves out.
program drive
  use left_out_trace
  implicit none

  call tumit_set_level("all", .true.)
  call left_out_work_begin(1)
  call left_out_step(1, "never", [1, 2], [0.5d0, 1.5d0], "never", left_out_color_green, tumit_now())
  call left_out_here(__FILE__, __LINE__)
  call left_out_post(2)
  call left_out_done()
  call left_out_work_end()
end program drive
