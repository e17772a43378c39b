/* Keywords as the name of the trace, of levels, enums, their values, types and constants. */
#include "class__trace.h"

int main(void) {
    const uint8_t list[2] = {7, 8};
    const enum class__struct four[4] = {class__struct_public, class__struct_virtual, class__struct_true_,
                                        class__struct_None};
    class__a(class__struct_enum, 1);
    class__a(class__struct_Self, 2);
    (void)tumit1_set_level("match", 1);
    class__b(class__type_float, list);
    class__c(four, 4);
    return 0;
}
