! An enum of 256 values still takes one byte.
program drive
  use values256_trace
  implicit none

  call values256_chosen(values256_value_v0)
  call values256_chosen(values256_value_v1)
  call values256_chosen(values256_value_v254)
  call values256_chosen(values256_value_v255)
  call values256_chosen(values256_value_v255)
  call values256_several(1, [values256_value_v255, values256_value_v0, values256_value_v255], 2)
end program drive
