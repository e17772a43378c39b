! An enum of 257 values takes two bytes.
program drive
  use values257_trace
  implicit none

  call values257_chosen(values257_value_v0)
  call values257_chosen(values257_value_v1)
  call values257_chosen(values257_value_v254)
  call values257_chosen(values257_value_v255)
  call values257_chosen(values257_value_v256)
  call values257_several(1, [values257_value_v256, values257_value_v0, values257_value_v255], 2)
end program drive
