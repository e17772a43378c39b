! Keywords as the name of the trace, of levels, enums, their values, types and constants.
program drive
  use class_trace
  implicit none

  call class_a(class_struct_enum, 1)
  call class_a(class_struct_self, 2)
  call tumit_set_level("match", .true.)
  call class_b(class_type_float, [7, 8])
  call class_c([class_struct_public, class_struct_virtual, class_struct_true_, class_struct_none])
end program drive
