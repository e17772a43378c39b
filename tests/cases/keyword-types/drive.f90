! Keywords as the name of the trace, of levels, enums, their values, types and constants.
program drive
  use class__trace
  implicit none

  call class__a(class__struct_enum, 1)
  call class__a(class__struct_self, 2)
  call tumit_set_level("match", .true.)
  call class__b(class__type_float, [7, 8])
  call class__c([class__struct_public, class__struct_virtual, class__struct_true_, class__struct_none])
end program drive
