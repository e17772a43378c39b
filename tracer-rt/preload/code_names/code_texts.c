/* Texts for code addresses. */

#define _GNU_SOURCE

#include <elf.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "code_texts.h"
#include "modules.h"

/* Maximum length of a build id. The usual one has 20 bytes. */
#define MAX_BUILD_ID 32

/* The path of the program. */
static char program_path[PATH_MAX];

static void find_program(void) {
    const ssize_t length = readlink("/proc/self/exe", program_path, sizeof program_path - 1);
    program_path[length > 0 ? length : 0] = '\0';
}

__attribute__((constructor)) static void prepare_texts(void) { find_program(); }

/* Appends the build id among some notes. Returns 0 without one. */
static size_t build_id_in_notes(const unsigned char *notes, size_t size, char *text) {
    size_t offset = 0;
    while (size - offset >= sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) note;
        size_t name, description, i;
        memcpy(&note, notes + offset, sizeof note);
        name = offset + sizeof note;
        description = name + (((size_t)note.n_namesz + 3) & ~(size_t)3);
        offset = description + (((size_t)note.n_descsz + 3) & ~(size_t)3);
        if (note.n_namesz > size || note.n_descsz > size || offset > size) {
            return 0;
        }
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(notes + name, "GNU", 4) == 0 &&
            note.n_descsz <= MAX_BUILD_ID) {
            for (i = 0; i < note.n_descsz; i++) {
                snprintf(text + 2 * i, 3, "%02x", notes[description + i]);
            }
            return 2 * i;
        }
    }
    return 0;
}

/* Appends the build id of a file, from its notes in memory. Returns 0 without one. */
static size_t build_id(const struct tumit_module *module, char *text) {
    const ElfW(Ehdr) *header = module->header;
    const ElfW(Phdr) *part;
    unsigned i;
    size_t length = 0;
    if (header == NULL || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_phentsize != sizeof *part) {
        return 0;
    }
    part = (const void *)((const char *)header + header->e_phoff);
    for (i = 0; i < header->e_phnum && length == 0; i++, part++) {
        if (part->p_type == PT_NOTE) {
            length = build_id_in_notes((const void *)(module->start + part->p_vaddr), part->p_memsz, text);
        }
    }
    return length;
}

static const char *const kinds[] = {"function", "call", "inlined"};

size_t tumit_code_text(enum tumit_code_kind kind, const void *address, char text[TUMIT_CODE_TEXT]) {
    char id[2 * MAX_BUILD_ID + 1] = "-";
    struct tumit_module module;
    const char *path;
    int length;
    if (!tumit_find_module(address, &module)) {
        return (size_t)snprintf(text, TUMIT_CODE_TEXT, "unknown code");
    }
    if (program_path[0] == '\0') {
        find_program();
    }
    (void)build_id(&module, id);
    path = module.path[0] == '\0' ? program_path : module.path;
    length = snprintf(text, TUMIT_CODE_TEXT, "\001%s %lx %s ", kinds[kind],
                      (unsigned long)((uintptr_t)address - module.start), id);
    if (path[0] != '/' && getcwd(text + length, TUMIT_CODE_TEXT - (size_t)length - 1) != NULL) {
        length += (int)strlen(text + length);
        text[length++] = '/';
    }
    length += snprintf(text + length, TUMIT_CODE_TEXT - (size_t)length, "%s", path);
    return (size_t)length < TUMIT_CODE_TEXT ? (size_t)length : TUMIT_CODE_TEXT - 1;
}
