/* ---- Text in the format of `tumit dump` ---- */

/* The character at `p`. `*used` gets its number of bytes. Invalid UTF-8 yields U+FFFD, once for
 * each longest sequence that could begin a character. */
TUMIT1R_FN uint32_t tumit1r_character(const unsigned char *p, size_t bytes, size_t *size) {
    unsigned char low = 0x80, high = 0xBF;
    uint32_t character = p[0];
    size_t length, i;
    *size = 1;
    if (character < 0x80) {
        return character;
    }
    if (character < 0xC2 || character > 0xF4) {
        return 0xFFFD;
    }
    length = character < 0xE0 ? 1 : character < 0xF0 ? 2 : 3;
    if (character == 0xE0) {
        low = 0xA0;
    } else if (character == 0xED) {
        high = 0x9F;
    } else if (character == 0xF0) {
        low = 0x90;
    } else if (character == 0xF4) {
        high = 0x8F;
    }
    character &= length == 1 ? 0x1Fu : length == 2 ? 0x0Fu : 0x07u;
    for (i = 1; i <= length; i++) {
        if (i >= bytes || p[i] < low || p[i] > high) {
            *size = i;
            return 0xFFFD;
        }
        character = character << 6 | (p[i] & 0x3Fu);
        low = 0x80;
        high = 0xBF;
    }
    *size = length + 1;
    return character;
}

TUMIT1R_FN size_t tumit1r_characters(const char *text) {
    const unsigned char *p = (const unsigned char *)text;
    size_t count = 0, remaining = strlen(text), size;
    while (remaining > 0) {
        (void)tumit1r_character(p, remaining, &size);
        p += size;
        remaining -= size;
        count++;
    }
    return count;
}

TUMIT1R_FN bool tumit1r_is_printable(uint32_t character) {
    size_t i;
    uint32_t end = 0;
    if (character < 0x7F) {
        return character >= 0x20;
    }
    for (i = 0; i < sizeof tumit1r_printable_runs / sizeof tumit1r_printable_runs[0]; i++) {
        end += tumit1r_printable_runs[i];
        if (character < end) {
            return (i & 1u) == 0;
        }
    }
    return false;
}

TUMIT1R_FN void tumit1r_print_character(FILE *out, uint32_t character, bool is_quoted) {
    unsigned char bytes[4];
    size_t count = 1, i;
    if (is_quoted) {
        switch (character) {
        case 0:
            fputs("\\0", out);
            return;
        case '\t':
            fputs("\\t", out);
            return;
        case '\n':
            fputs("\\n", out);
            return;
        case '\r':
            fputs("\\r", out);
            return;
        case '"':
            fputs("\\\"", out);
            return;
        case '\\':
            fputs("\\\\", out);
            return;
        default:
            if (!tumit1r_is_printable(character)) {
                fprintf(out, "\\u{%x}", (unsigned)character);
                return;
            }
            break;
        }
    }
    if (character < 0x80) {
        bytes[0] = (unsigned char)character;
    } else {
        count = character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
        for (i = count - 1; i > 0; i--) {
            bytes[i] = (unsigned char)(0x80u | (character & 0x3Fu));
            character >>= 6;
        }
        bytes[0] = (unsigned char)((count == 2 ? 0xC0u : count == 3 ? 0xE0u : 0xF0u) | character);
    }
    (void)fwrite(bytes, 1, count, out);
}

TUMIT1R_FN void tumit1r_print_text(FILE *out, const void *text, size_t bytes, bool is_quoted) {
    const unsigned char *p = (const unsigned char *)text;
    size_t size;
    while (bytes > 0) {
        tumit1r_print_character(out, tumit1r_character(p, bytes, &size), is_quoted);
        p += size;
        bytes -= size;
    }
}

/* The value of `digits` times ten to the power of `exponent`. */
TUMIT1R_FN double tumit1r_decimal(const char *digits, int exponent, bool single) {
    char text[48];
    (void)snprintf(text, sizeof text, "%se%d", digits, exponent);
    return single ? (double)strtof(text, NULL) : strtod(text, NULL);
}

/* Adds one to a decimal number. Returns whether a carry out of its first digit leaves a power of
 * ten. */
TUMIT1R_FN bool tumit1r_increment(char *digits) {
    size_t i = strlen(digits);
    while (i > 0) {
        i--;
        if (digits[i] != '9') {
            digits[i]++;
            return false;
        }
        digits[i] = '0';
    }
    digits[0] = '1';
    return true;
}

/* Prints a float with the fewest digits that identify it, without an exponent. */
TUMIT1R_FN void tumit1r_print_float(FILE *out, double value, bool single) {
    char text[48], digits[24];
    int exponent = 0, length = 0, i;
    if (value != value) {
        fputs("NaN", out);
        return;
    }
    if (value < 0 || (value == 0 && 1 / value < 0)) {
        fputc('-', out);
        value = -value;
    }
    if (value == 0 || value > 1.7976931348623157e308) {
        fputs(value == 0 ? "0" : "inf", out);
        return;
    }
    for (length = 1; length <= 17; length++) {
        const char *p = text;
        (void)snprintf(text, sizeof text, "%.*e", length - 1, value);
        for (i = 0; *p != 'e' && *p != '\0'; p++) {
            if (*p >= '0' && *p <= '9' && i < length) {
                digits[i++] = *p;
            }
        }
        digits[i] = '\0';
        exponent = *p == 'e' ? atoi(p + 1) : 0;
        if (tumit1r_decimal(digits, exponent - (length - 1), single) == value) {
            break;
        }
        /* Below a power of two the floats are denser. So the nearest decimal may not identify
         * the float when the next one does. */
        if (tumit1r_increment(digits)) {
            exponent++;
        }
        if (tumit1r_decimal(digits, exponent - (length - 1), single) == value) {
            break;
        }
    }
    length = (int)strlen(digits);
    while (length > 1 && digits[length - 1] == '0') {
        length--;
    }
    if (exponent < 0) {
        fputs("0.", out);
    }
    for (i = exponent < 0 ? exponent + 1 : 0; i < length || i <= exponent; i++) {
        if (i == exponent + 1 && i > 0) {
            fputc('.', out);
        }
        fputc(i >= 0 && i < length ? digits[i] : '0', out);
    }
}

/* Nanoseconds as seconds with nine decimals. */
TUMIT1R_FN void tumit1r_timestamp_text(char *text, size_t room, int64_t nanos) {
    uint64_t size = nanos < 0 ? 0u - (uint64_t)nanos : (uint64_t)nanos;
    (void)snprintf(text, room, "%s%llu.%09llu", nanos < 0 ? "-" : "",
                   (unsigned long long)(size / 1000000000u),
                   (unsigned long long)(size % 1000000000u));
}
