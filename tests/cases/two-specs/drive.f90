! Two specs in one program. The parts of both modules come from one of them.
program drive
  use first_trace
  use second_trace, only: second_tick, second_paint, second_work_begin, second_work_end, second_step, &
    second_color_blue, second_color_red
  implicit none

  call first_tick(1)
  call second_tick(1.5d0)
  call first_paint(first_color_red, "wall")
  call second_paint(second_color_red, "door")
  call second_paint(second_color_blue, "wall")
  call first_work_begin(2)
  call second_work_begin("two")
  call first_step(3)
  call second_step(-3)
  call tumit_set_level("first.APP", .true.)
  call tumit_set_level("second.app", .false.)
  call first_step(4)
  call second_step(-4)
  call tumit_set_level("APP", .true.)
  call second_step(-5)
  call second_work_end()
  call first_work_end()
end program drive
