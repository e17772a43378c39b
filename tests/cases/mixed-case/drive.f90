! Names in mixed case.
program drive
  use mixedcase_trace
  implicit none

  call MixedCase_RecvDone(1, 2, 3, MixedCase_TrafficLight_RED)
  call mixedcase_recvdone(4, 5, 6, mixedcase_trafficlight_lightblue)
  call MixedCase_HTTPRequest("http://localhost/")
  call MixedCase_OuterLoop_begin(iterationnumber=7)
  call MixedCase_x2y(1, 2, 3)
  call MixedCase_OuterLoop_end()
end program drive
