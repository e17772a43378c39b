! Names of 63 letters, the maximum of Fortran. Longer ones would end in a checksum.
program drive
  use trace_abcdefghij_abcdefghij_abcdefghij_abcdefghij_abcd_7a693167, only: &
    event => trace_abcdefghij_abcdefghij_abcdefghij_abcdefghij_abcd_6b1f0940, &
    span_begin => trace_abcdefghij_abcdefghij_abcdefghij_abcdefghij_abcd_8993c550, &
    span_end => trace_abcdefghij_abcdefghij_abcdefghij_abcdefghij_abcd_d9ec5164, &
    value_n => trace_abcdefghij_abcdefghij_abcdefghij_abcdefghij_abcd_4ad1a9ac, &
    value_o => trace_abcdefghij_abcdefghij_abcdefghij_abcdefghij_abcd_b8ba2aaf
  implicit none

  call span_begin(7)
  call event(1, value_n, [value_o])
  call span_end()
end program drive
