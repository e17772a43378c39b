/* Texts for code addresses, and names of functions from the symbol tables of the program and its
 * libraries.
 *
 * The symbol table of the file is searched. `dladdr` does not find the functions of a program,
 * because the linker exports them only with `-rdynamic`. */

#define _GNU_SOURCE

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "code_names.h"
#include "code_texts.h"
#include "modules.h"

/* Entries of the table of names; a power of two. Programs have a few hundred constructs. Addresses
 * that do not fit have no name. */
#define TABLE_ENTRIES 4096

/* The name of addresses that do not fit. */
static struct {
    uint32_t id;
    char text[sizeof "unknown code"];
} unknown_code = {0, "unknown code"};

struct table_entry {
    const void *address;
    const char *name;
};

static struct table_entry table[TABLE_ENTRIES];
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;

/* A function in a symbol table. */
struct function {
    char name[TUMIT_FUNCTION_NAME];
    uintptr_t start;
};

/* A file in memory. */
struct mapped_file {
    const unsigned char *bytes;
    size_t size;
};

static int map_file(const char *path, struct mapped_file *file) {
    struct stat status;
    void *bytes = MAP_FAILED;
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) {
        return 0;
    }
    if (fstat(descriptor, &status) == 0 && status.st_size > 0) {
        bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    }
    close(descriptor);
    if (bytes == MAP_FAILED) {
        return 0;
    }
    file->bytes = bytes;
    file->size = (size_t)status.st_size;
    return 1;
}

/* Whether the file contains these bytes. */
static int contains(const struct mapped_file *file, uint64_t offset, uint64_t bytes) {
    return offset <= file->size && bytes <= file->size - offset;
}

/* Searches a symbol table for the function that contains an address of the file. */
static int find_in_table(const struct mapped_file *file, const ElfW(Shdr) * symbols, const ElfW(Shdr) * names,
                         uintptr_t address, struct function *function) {
    const ElfW(Sym) *symbol = (const void *)(file->bytes + symbols->sh_offset);
    size_t left = symbols->sh_size / sizeof *symbol;
    int is_found = 0;
    for (; left > 0; left--, symbol++) {
        const char *name;
        if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_value > address || symbol->st_name >= names->sh_size ||
            (symbol->st_size != 0 && address - symbol->st_value > symbol->st_size) ||
            (is_found && symbol->st_value <= function->start)) {
            continue;
        }
        name = (const char *)file->bytes + names->sh_offset + symbol->st_name;
        snprintf(function->name, sizeof function->name, "%.*s", (int)(names->sh_size - symbol->st_name), name);
        function->start = symbol->st_value;
        is_found = function->name[0] != '\0';
    }
    return is_found;
}

/* Searches a symbol table of a file: the complete one, or that of exported symbols. */
static int find_in_file(const struct mapped_file *file, uint32_t type, uintptr_t address,
                        struct function *function) {
    const ElfW(Ehdr) *header = (const void *)file->bytes;
    const ElfW(Shdr) *sections;
    size_t i;
    if (!contains(file, 0, sizeof *header) || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_shentsize != sizeof *sections ||
        !contains(file, header->e_shoff, (uint64_t)header->e_shnum * sizeof *sections)) {
        return 0;
    }
    sections = (const void *)(file->bytes + header->e_shoff);
    for (i = 0; i < header->e_shnum; i++) {
        const ElfW(Shdr) *symbols = &sections[i], *names;
        if (symbols->sh_type != type || symbols->sh_link >= header->e_shnum) {
            continue;
        }
        names = &sections[symbols->sh_link];
        if (contains(file, symbols->sh_offset, symbols->sh_size) && contains(file, names->sh_offset, names->sh_size)) {
            return find_in_table(file, symbols, names, address, function);
        }
    }
    return 0;
}

static char *(*demangler)(const char *, char *, size_t *, int *);

static void unlock_table(void) { pthread_mutex_init(&table_lock, NULL); }

/* The program contains a demangler if it uses the library of C++. Another thread may hold the lock
 * when a process forks. */
__attribute__((constructor)) static void prepare_names(void) {
    *(void **)&demangler = dlsym(RTLD_DEFAULT, "__cxa_demangle");
    pthread_atfork(NULL, NULL, unlock_table);
}

/* Replaces the name of a C++ function by its declaration. */
static void demangle(struct function *function) {
    char *text;
    int status = -1;
    if (demangler == NULL || strncmp(function->name, "_Z", 2) != 0) {
        return;
    }
    text = demangler(function->name, NULL, NULL, &status);
    if (text != NULL && status == 0) {
        snprintf(function->name, sizeof function->name, "%s", text);
    }
    free(text);
}

/* Searches the function that contains an address of a loaded file. */
static int find_function(const struct tumit_module *module, const void *address, struct function *function) {
    const uintptr_t offset = (uintptr_t)address - module->start;
    struct mapped_file file;
    int is_found;
    if (!map_file(module->path[0] == '\0' ? "/proc/self/exe" : module->path, &file)) {
        return 0;
    }
    is_found = find_in_file(&file, SHT_SYMTAB, offset, function) || find_in_file(&file, SHT_DYNSYM, offset, function);
    munmap((void *)(uintptr_t)file.bytes, file.size);
    if (is_found) {
        demangle(function);
    }
    return is_found;
}

/* Cuts the parameters of a C++ declaration: from the parenthesis that the last `)` closes. */
static void cut_parameters(char *name) {
    char *last = strrchr(name, ')');
    int depth = 0;
    for (; last != NULL && last > name; last--) {
        depth += *last == ')' ? 1 : *last == '(' ? -1 : 0;
        if (depth == 0) {
            *last = '\0';
            return;
        }
    }
}

const char *tumit_function_name(const void *address, char name[TUMIT_FUNCTION_NAME]) {
    struct function function = {"", 0};
    struct tumit_module module;
    name[0] = '\0';
    if (tumit_find_module(address, &module) && find_function(&module, address, &function)) {
        memcpy(name, function.name, sizeof function.name);
        cut_parameters(name);
    }
    return name;
}

static const char *new_name(enum tumit_code_kind kind, const void *address) {
    char text[TUMIT_CODE_TEXT];
    const size_t length = tumit_code_text(kind, address, text);
    struct tumit_text *name = malloc(sizeof *name + length + 1);
    if (name == NULL) {
        return unknown_code.text;
    }
    name->id = 0;
    memcpy(name->text, text, length + 1);
    return name->text;
}

/* The entry of an address: with its name, or free. NULL if the table is full. */
static struct table_entry *entry_of(const void *address) {
    const uint64_t hash = (uint64_t)(uintptr_t)address * UINT64_C(0x9E3779B97F4A7C15);
    size_t i;
    for (i = 0; i < TABLE_ENTRIES; i++) {
        struct table_entry *entry = &table[((hash >> 32) + i) & (TABLE_ENTRIES - 1)];
        const void *known = __atomic_load_n(&entry->address, __ATOMIC_ACQUIRE);
        if (known == address || known == NULL) {
            return entry;
        }
    }
    return NULL;
}

const char *tumit_code_name(enum tumit_code_kind kind, const void *address) {
    struct table_entry *entry = entry_of(address);
    if (address == NULL || entry == NULL) {
        return unknown_code.text;
    }
    if (__atomic_load_n(&entry->address, __ATOMIC_ACQUIRE) == address) {
        return entry->name;
    }
    pthread_mutex_lock(&table_lock);
    entry = entry_of(address);
    if (entry != NULL && entry->address == NULL) {
        entry->name = new_name(kind, address);
        __atomic_store_n(&entry->address, address, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&table_lock);
    return entry == NULL ? unknown_code.text : entry->name;
}
