/* Keywords as the name of the trace, of levels, enums, their values, types and constants. */
#include "class_trace.h"

int main(void) {
    const uint8_t list[2] = {7, 8};
    const enum class_struct four[4] = {class_struct_public, class_struct_virtual, class_struct_true_,
                                        class_struct_None};
    class_a(class_struct_enum, 1);
    class_a(class_struct_Self, 2);
    (void)tumit1_set_level("match", 1);
    class_b(class_type_float, list);
    class_c(four, 4);
    return 0;
}
