/* Functions that clang has compiled with `-fxray-instrument`.
 *
 * Such a function has a sled at its begin, and before each of its ends: bytes that do nothing until
 * they are replaced by a call. The section `xray_instr_map` lists the sleds. At the start of the
 * process, each sled of the selected functions gets the instructions
 *
 *     movl $NUMBER, %r10d
 *     call STUB                  (jmp at a `ret`, which the sled replaces)
 *
 * A stub is near the code, because these instructions reach 2 GiB, and jumps to a trampoline. */

#if defined(__x86_64__)

#include <cpuid.h>
#include <link.h>

#include "code_names/file_sections.h"

#define SLED_BYTES 11
/* Maximum number of functions with sleds. */
#define MAX_SLED_FUNCTIONS (1u << 20)
/* The distance that a call reaches, less the size of the stubs. */
#define CALL_DISTANCE (((uintptr_t)1 << 31) - ((uintptr_t)1 << 16))
/* The distance between two addresses that are tried for stubs. */
#define STUB_DISTANCE ((uintptr_t)1 << 21)
#define STUB_BYTES 16
/* Older C libraries lack the name. */
#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

enum sled_kind { SLED_ENTRY, SLED_EXIT, SLED_TAIL_EXIT, SLED_ENTRY_WITH_ARGUMENTS };

/* An entry of the section. From version 2 on, an address is relative to its own position. */
struct sled_entry {
    uint64_t address;
    uint64_t function;
    uint8_t kind;
    uint8_t is_always_instrumented;
    uint8_t version;
    uint8_t padding[13];
};

/* The code of a file, and where its sleds jump to. */
struct sled_module {
    const struct dl_phdr_info *info;
    const char *path;
    const struct sled_entry *entries;
    size_t entry_count;
    /* Three stubs, by `stub_number`. */
    unsigned char *stubs;
};

void tumit_entry_trampoline(void);
void tumit_exit_trampoline(void);
void tumit_tail_exit_trampoline(void);

/* The parts of vector registers that trampolines keep, as bits of the register XCR0. The second
 * variable is 1 if the processor reports which parts are in use. */
int tumit_vector_states, tumit_has_states_in_use;

/* The functions by their numbers in sleds. */
static const void **sled_functions;
static uint32_t sled_function_count;

void tumit_enter_sled(uint32_t number, const uintptr_t *words);
/* `words` begins with the return address of the function. */
void tumit_enter_sled(uint32_t number, const uintptr_t *words) {
    const void *function = sled_functions[number];
    struct thread_calls *thread = own_calls;
    if (__builtin_expect(thread == NULL, 0) && (!is_ready || (thread = new_thread_calls()) == NULL)) {
        return;
    }
    if (enter_recorder(thread, (uintptr_t)words)) {
        enter_function(thread, function, (uintptr_t)words, function, (const void *)words[0]);
        leave_recorder(thread);
    }
}

void tumit_leave_sled(uint32_t number, const uintptr_t *words);
void tumit_leave_sled(uint32_t number, const uintptr_t *words) {
    struct thread_calls *thread = own_calls;
    if (thread != NULL && enter_recorder(thread, (uintptr_t)words)) {
        leave_function(thread, sled_functions[number]);
        leave_recorder(thread);
    }
}

/* Whether the trampolines can keep the vector registers of this processor. */
static int prepare_trampolines(void) {
    /* The upper halves of ymm0 to ymm15, and of zmm0 to zmm15. */
    const unsigned kept_states = 1u << 2 | 1u << 6;
    /* The size of the memory for them in `sled_trampolines.S`. */
    const unsigned memory = 2752;
    unsigned a, b, c, d, state;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & bit_OSXSAVE) == 0) {
        return 1; /* it has none of them */
    }
    __asm__("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
    tumit_vector_states = (int)(a & kept_states);
    for (state = 0; state < 8; state++) {
        if ((tumit_vector_states >> state & 1) != 0 &&
            (!__get_cpuid_count(0xd, state, &a, &b, &c, &d) || a + b > memory)) {
            return 0;
        }
    }
    tumit_has_states_in_use = __get_cpuid_count(0xd, 1, &a, &b, &c, &d) && (a & 1u << 2) != 0;
    return 1;
}

/* Whether a loaded file contains `bytes` bytes at an address, in a part with these rights. */
static int module_contains(const struct dl_phdr_info *info, uintptr_t address, uint64_t bytes, uint32_t rights) {
    int i;
    for (i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        const uintptr_t offset = address - info->dlpi_addr - part->p_vaddr;
        if (part->p_type == PT_LOAD && (part->p_flags & rights) == rights && offset <= part->p_filesz &&
            bytes <= part->p_filesz - offset) {
            return 1;
        }
    }
    return 0;
}

/* Finds the list of sleds of a file. Returns 0 without one. */
static int find_sleds(struct sled_module *module) {
    struct tumit_mapped_file file;
    const ElfW(Shdr) * section;
    if (!tumit_map_file(module->path, &file)) {
        return 0;
    }
    section = tumit_find_section(&file, "xray_instr_map");
    module->entry_count = section == NULL ? 0 : section->sh_size / sizeof(struct sled_entry);
    if (module->entry_count > 0) {
        const uintptr_t address = module->info->dlpi_addr + section->sh_addr;
        module->entries = (const struct sled_entry *)address;
        /* The file may be another one than at the start of the program. */
        if ((section->sh_flags & SHF_ALLOC) == 0 || !module_contains(module->info, address, section->sh_size, PF_R)) {
            module->entry_count = 0;
        }
    }
    tumit_unmap_file(&file);
    return module->entry_count > 0;
}

/* Sets the rights of the code. Returns 0 if the system refuses it. */
static int protect_code(const struct dl_phdr_info *info, int is_writable) {
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    int i;
    for (i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        const uintptr_t begin = (info->dlpi_addr + part->p_vaddr) & ~(page - 1);
        const uintptr_t end = info->dlpi_addr + part->p_vaddr + part->p_memsz;
        if (part->p_type == PT_LOAD && (part->p_flags & PF_X) != 0) {
            const int rights = ((part->p_flags & PF_R) != 0 ? PROT_READ : 0) | PROT_EXEC |
                               (is_writable || (part->p_flags & PF_W) != 0 ? PROT_WRITE : 0);
            if (mprotect((void *)begin, end - begin, rights) != 0) {
                return 0;
            }
        }
    }
    return 1;
}

static unsigned char *map_stubs(uintptr_t address) {
    const size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
    void *page = mmap((void *)address, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (page == MAP_FAILED) {
        return NULL;
    }
    if ((uintptr_t)page != address) { /* Linux before 4.17 */
        munmap(page, bytes);
        return NULL;
    }
    return page;
}

static unsigned stub_number(uint8_t kind) { return kind == SLED_EXIT ? 1 : kind == SLED_TAIL_EXIT ? 2 : 0; }

/* Makes the stubs within the distance of a call from all code of a file: below it, because the
 * memory of `brk` grows above a program, or above it. */
static unsigned char *new_stubs(const struct dl_phdr_info *info) {
    void (*const trampolines[])(void) = {tumit_entry_trampoline, tumit_exit_trampoline, tumit_tail_exit_trampoline};
    uintptr_t begin = UINTPTR_MAX, end = 0, address;
    unsigned char *stubs = NULL;
    int i;
    for (i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        const uintptr_t part_begin = info->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_LOAD) {
            begin = part_begin < begin ? part_begin : begin;
            end = part_begin + part->p_memsz > end ? part_begin + part->p_memsz : end;
        }
    }
    begin &= ~(STUB_DISTANCE - 1);
    for (address = begin; stubs == NULL && address > STUB_DISTANCE && end - address < CALL_DISTANCE;) {
        address -= STUB_DISTANCE;
        stubs = map_stubs(address);
    }
    end = (end + STUB_DISTANCE - 1) & ~(STUB_DISTANCE - 1);
    for (address = end + (CALL_DISTANCE >> 2); stubs == NULL && address - begin < CALL_DISTANCE;
         address += STUB_DISTANCE) {
        stubs = map_stubs(address);
    }
    for (i = 0; stubs != NULL && i < 3; i++) {
        /* jmp *0(%rip), and the address */
        static const unsigned char jump[] = {0xff, 0x25, 0, 0, 0, 0};
        memcpy(stubs + i * STUB_BYTES, jump, sizeof jump);
        memcpy(stubs + i * STUB_BYTES + sizeof jump, &trampolines[i], sizeof trampolines[i]);
    }
    if (stubs != NULL && mprotect(stubs, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_EXEC) != 0) {
        munmap(stubs, (size_t)sysconf(_SC_PAGESIZE));
        stubs = NULL;
    }
    return stubs;
}

/* Whether a sled has the bytes that the compiler has written. */
static int is_unpatched(const unsigned char *sled, uint8_t kind) {
    static const unsigned char jump[] = {0xeb, 0x09, 0x66}, ret[] = {0xc3, 0x2e, 0x66};
    return memcmp(sled, kind == SLED_EXIT ? ret : jump, sizeof jump) == 0;
}

/* Another thread may run the sled meanwhile. The two first bytes of an unpatched sled are a jump over
 * the others, or a return before them. So the others are written first, and then these two in one
 * write. */
static void patch_sled(unsigned char *sled, uint8_t kind, uint32_t number, const unsigned char *stubs) {
    const int32_t distance = (int32_t)(stubs + stub_number(kind) * STUB_BYTES - (sled + SLED_BYTES));
    memcpy(sled + 2, &number, sizeof number);
    sled[6] = kind == SLED_EXIT ? 0xe9 : 0xe8; /* jmp or call */
    memcpy(sled + 7, &distance, sizeof distance);
    __atomic_store_n((uint16_t *)(void *)sled, 0xba41, __ATOMIC_RELEASE); /* movl to r10d */
}

/* Patches the sleds of the functions that the patterns select. Returns the number of sleds that
 * another library has patched before. */
static size_t patch_sleds(const struct sled_module *module) {
    static char name[TUMIT_FUNCTION_NAME];
    uintptr_t last = 0;
    int is_chosen = 0;
    size_t i, patched_before = 0;
    for (i = 0; i < module->entry_count; i++) {
        const struct sled_entry *entry = &module->entries[i];
        const int is_relative = entry->version >= 2;
        const uintptr_t address = entry->address + (is_relative ? (uintptr_t)&entry->address : 0);
        const uintptr_t function = entry->function + (is_relative ? (uintptr_t)&entry->function : 0);
        unsigned char *sled = (unsigned char *)address;
        if (entry->kind > SLED_ENTRY_WITH_ARGUMENTS || address % 2 != 0 ||
            !module_contains(module->info, address, SLED_BYTES, PF_X)) {
            continue;
        }
        if (!is_unpatched(sled, entry->kind)) {
            patched_before++;
            continue;
        }
        /* The sleds of a function follow each other. */
        if (function != last) {
            last = function;
            is_chosen = sled_function_count < MAX_SLED_FUNCTIONS &&
                        (options.patterns == NULL || is_selected(tumit_function_name((const void *)function, name)));
            if (is_chosen) {
                sled_functions[sled_function_count++] = (const void *)function;
            }
        }
        if (is_chosen) {
            patch_sled(sled, entry->kind, sled_function_count - 1, module->stubs);
        }
    }
    return patched_before;
}

static int patch_module(struct dl_phdr_info *info, size_t size, void *data) {
    struct sled_module module = {info, info->dlpi_name, NULL, 0, NULL};
    const char *name = module.path[0] == '\0' ? "the program" : module.path;
    size_t patched_before;
    (void)size;
    (void)data;
    if (!find_sleds(&module)) {
        return 0;
    }
    if ((module.stubs = new_stubs(info)) == NULL || !protect_code(info, 1)) {
        fprintf(stderr, "tumit: functions of %s are not recorded, because its code cannot be changed: %s\n", name,
                module.stubs == NULL ? "there is no memory near it" : strerror(errno));
        return 0;
    }
    patched_before = patch_sleds(&module);
    protect_code(info, 0);
    if (patched_before != 0) {
        fprintf(stderr, "tumit: %zu begins and ends of functions of %s are not recorded, because another library "
                        "has changed their code; remove patch_premain from XRAY_OPTIONS\n",
                patched_before, name);
    }
    return 0;
}

/* Patches the sleds of the program and of the libraries that it needs. */
static void patch_all_sleds(void) {
    const size_t bytes = MAX_SLED_FUNCTIONS * sizeof *sled_functions;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory != MAP_FAILED && prepare_trampolines()) {
        sled_functions = memory;
        dl_iterate_phdr(patch_module, NULL);
    }
    if (memory != MAP_FAILED && sled_function_count == 0) {
        munmap(memory, bytes);
    }
}

#else

static void patch_all_sleds(void) {}

#endif
