/* Names in mixed case. */
#include "MixedCase_trace.h"

int main(void) {
    MixedCase_RecvDone(1, 2, 3, MixedCase_TrafficLight_RED);
    MixedCase_RecvDone(4, 5, 6, MixedCase_TrafficLight_LightBlue);
    MixedCase_HTTPRequest("http://localhost/");
    MixedCase_OuterLoop_begin(7);
    MixedCase_x2y(1, 2, 3);
    MixedCase_OuterLoop_end();
    return 0;
}
