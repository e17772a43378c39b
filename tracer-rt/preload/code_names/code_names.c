/* Texts for code addresses, and names of functions from the symbol tables of the program and its
 * libraries. */

#define _GNU_SOURCE

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code_names.h"
#include "code_texts.h"
#include "modules.h"
#include "symbol_tables.h"

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

static char *(*demangler)(const char *, char *, size_t *, int *);

static void unlock_table(void) { pthread_mutex_init(&table_lock, NULL); }

/* The program contains a demangler if it uses the library of C++. Another thread may hold the lock
 * when a process forks. The constructor of the recorder of functions needs the names, so this one
 * runs before it. */
__attribute__((constructor(101))) static void prepare_names(void) {
    *(void **)&demangler = dlsym(RTLD_DEFAULT, "__cxa_demangle");
    pthread_atfork(NULL, NULL, unlock_table);
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

/* Removes the return type, which precedes the name of an instance of a template. */
static void cut_return_type(char *name) {
    const char *begin = name, *end = name;
    int depth = 0;
    for (; *end != '\0' && (depth > 0 || strncmp(end, "operator", strlen("operator")) != 0); end++) {
        depth += *end == '<' || *end == '(' ? 1 : *end == '>' || *end == ')' ? -1 : 0;
        if (depth == 0 && *end == ' ') {
            begin = end + 1;
        }
    }
    memmove(name, begin, strlen(begin) + 1);
}

/* Writes the name of a C++ function, without parameters. Returns 0 if the symbol is none of C++. */
static int demangle(const char *symbol, char name[TUMIT_FUNCTION_NAME]) {
    char *text;
    int status = -1;
    if (demangler == NULL || strncmp(symbol, "_Z", 2) != 0) {
        return 0;
    }
    text = demangler(symbol, NULL, NULL, &status);
    if (text != NULL && status == 0) {
        snprintf(name, TUMIT_FUNCTION_NAME, "%s", text);
        cut_parameters(name);
        cut_return_type(name);
    }
    free(text);
    return text != NULL && status == 0;
}

const char *tumit_function_name(const void *address, char name[TUMIT_FUNCTION_NAME]) {
    struct tumit_module module;
    const char *symbol = tumit_find_module(address, &module) ? tumit_find_symbol(&module, address) : NULL;
    if (symbol == NULL || !demangle(symbol, name)) {
        snprintf(name, TUMIT_FUNCTION_NAME, "%s", symbol == NULL ? "" : symbol);
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
