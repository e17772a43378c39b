/* Finds the functions of the program and its libraries by address.
 *
 * `dladdr` does not find the functions of a program, because the linker exports them only with
 * `-rdynamic`. So the symbol tables of the files are read. */

#define _GNU_SOURCE

#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "file_sections.h"
#include "symbol_tables.h"

/* Number of symbols before an address that are compared with it. Few functions contain others. */
#define MAX_STEPS 16

/* The functions of a file. The file stays in memory, because it contains the names. */
struct symbol_table {
    struct symbol_table *next;
    /* The file: its position in memory, and its path. A library may have the position of an
     * unloaded one. */
    uintptr_t start;
    const char *path;
    const char *names;
    size_t name_bytes;
    /* The symbols by address. Those with equal addresses are in the order of the file. */
    size_t count;
    const ElfW(Sym) *symbols[];
};

/* The tables that are complete. */
static struct symbol_table *tables;
static pthread_mutex_t tables_lock = PTHREAD_MUTEX_INITIALIZER;

/* Another thread may hold the lock when a process forks. */
static void unlock_tables(void) { pthread_mutex_init(&tables_lock, NULL); }

__attribute__((constructor)) static void prepare_tables(void) { pthread_atfork(NULL, NULL, unlock_tables); }

/* Finds a symbol table and its names: the complete table, or that of exported symbols. */
static int find_sections(const struct tumit_mapped_file *file, uint32_t type, const ElfW(Shdr) * *symbols,
                         const ElfW(Shdr) * *names) {
    size_t count, i;
    const ElfW(Shdr) *sections = tumit_file_sections(file, &count);
    for (i = 0; i < count; i++) {
        *symbols = &sections[i];
        if ((*symbols)->sh_type == type && (*symbols)->sh_link < count) {
            *names = &sections[(*symbols)->sh_link];
            return tumit_file_contains(file, (*symbols)->sh_offset, (*symbols)->sh_size) &&
                   tumit_file_contains(file, (*names)->sh_offset, (*names)->sh_size);
        }
    }
    return 0;
}

static int is_before(const ElfW(Sym) * symbol, const ElfW(Sym) * other) {
    return symbol->st_value != other->st_value ? symbol->st_value < other->st_value : symbol < other;
}

/* Moves a symbol down the heap to its place. */
static void sift_down(const ElfW(Sym) * *heap, size_t position, size_t count) {
    const ElfW(Sym) *symbol = heap[position];
    for (;;) {
        size_t child = 2 * position + 1;
        if (child + 1 < count && is_before(heap[child], heap[child + 1])) {
            child++;
        }
        if (child >= count || !is_before(symbol, heap[child])) {
            break;
        }
        heap[position] = heap[child];
        position = child;
    }
    heap[position] = symbol;
}

/* Sorts symbols by address. `qsort` may call `malloc`, which could be recorded. */
static void sort_symbols(const ElfW(Sym) * *symbols, size_t count) {
    size_t i;
    for (i = count / 2; i > 0; i--) {
        sift_down(symbols, i - 1, count);
    }
    for (i = count; i > 1; i--) {
        const ElfW(Sym) *last = symbols[0];
        symbols[0] = symbols[i - 1];
        symbols[i - 1] = last;
        sift_down(symbols, 0, i - 1);
    }
}

/* Collects the functions of a table. */
static void fill_table(struct symbol_table *table, const ElfW(Sym) * symbol, size_t count) {
    for (; count > 0; count--, symbol++) {
        if (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx != SHN_UNDEF &&
            symbol->st_name < table->name_bytes && table->names[symbol->st_name] != '\0') {
            table->symbols[table->count++] = symbol;
        }
    }
    sort_symbols(table->symbols, table->count);
}

/* Reads the symbols of a file. A file without symbols has an empty table. NULL without memory. */
static struct symbol_table *read_table(const struct tumit_module *module) {
    const size_t path_bytes = strlen(module->path) + 1;
    const ElfW(Shdr) *symbols = NULL, *names = NULL;
    struct tumit_mapped_file file = {NULL, 0};
    struct symbol_table *table;
    size_t count = 0, bytes;
    /* A name ends by a zero, as the last byte of the names does. */
    if (tumit_map_file(module->path, &file)) {
        if ((find_sections(&file, SHT_SYMTAB, &symbols, &names) || find_sections(&file, SHT_DYNSYM, &symbols, &names)) &&
            names->sh_size > 0 && file.bytes[names->sh_offset + names->sh_size - 1] == '\0') {
            count = symbols->sh_size / sizeof(ElfW(Sym));
        } else {
            tumit_unmap_file(&file);
        }
    }
    bytes = sizeof *table + count * sizeof table->symbols[0] + path_bytes;
    table = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (table == MAP_FAILED) {
        return NULL;
    }
    table->start = module->start;
    table->path = memcpy((char *)&table->symbols[count], module->path, path_bytes);
    if (count > 0) {
        table->names = (const char *)file.bytes + names->sh_offset;
        table->name_bytes = names->sh_size;
        fill_table(table, (const void *)(file.bytes + symbols->sh_offset), count);
    }
    return table;
}

/* The table of a file, which the first call for the file reads. NULL without memory. */
static const struct symbol_table *table_of(const struct tumit_module *module) {
    struct symbol_table *table;
    pthread_mutex_lock(&tables_lock);
    for (table = tables; table != NULL; table = table->next) {
        if (table->start == module->start && strcmp(table->path, module->path) == 0) {
            break;
        }
    }
    if (table == NULL && (table = read_table(module)) != NULL) {
        table->next = tables;
        tables = table;
    }
    pthread_mutex_unlock(&tables_lock);
    return table;
}

const char *tumit_find_symbol(const struct tumit_module *module, const void *address) {
    const struct symbol_table *table = table_of(module);
    const uintptr_t offset = (uintptr_t)address - module->start;
    const ElfW(Sym) *nearest = NULL;
    size_t first = 0, end = table == NULL ? 0 : table->count, steps;
    while (first < end) {
        const size_t middle = first + (end - first) / 2;
        if (table->symbols[middle]->st_value <= offset) {
            first = middle + 1;
        } else {
            end = middle;
        }
    }
    for (steps = 0; first > 0 && steps < MAX_STEPS; first--, steps++) {
        const ElfW(Sym) *symbol = table->symbols[first - 1];
        if (nearest != NULL && symbol->st_value < nearest->st_value) {
            break;
        }
        /* The address after a call that does not return may be the end of the function. */
        if (symbol->st_size == 0 || offset - symbol->st_value <= symbol->st_size) {
            nearest = symbol;
        }
    }
    return nearest == NULL ? NULL : table->names + nearest->st_name;
}
