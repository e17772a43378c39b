/* Strings: empty, of one byte, with characters of several bytes and of control. */
#include "strings_trace.h"

int main(void) {
    static char text[1001];
    int i;
    strings_say("");
    strings_say("x");
    strings_say("h\xC3\xA9llo \xE4\xB8\x96\xE7\x95\x8C \xF0\x9F\x98\x80");
    strings_say("a line\n\tand \"another\" \\ \x7F");
    for (i = 0; i < 1000; i++) {
        text[i] = (char)('a' + i % 10);
    }
    strings_say(text);
    strings_both("left", 7, "right");
    strings_both("", 0, "");
    strings_both("blank inside", 1, " blank before");
    return 0;
}
