/* The sections of files. A loader needs none, so files without sections exist. */

#define _GNU_SOURCE

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file_sections.h"

int tumit_map_file(const char *path, struct tumit_mapped_file *file) {
    struct stat status;
    void *bytes = MAP_FAILED;
    const int descriptor = open(path[0] == '\0' ? "/proc/self/exe" : path, O_RDONLY | O_CLOEXEC);
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

void tumit_unmap_file(const struct tumit_mapped_file *file) { munmap((void *)(uintptr_t)file->bytes, file->size); }

int tumit_file_contains(const struct tumit_mapped_file *file, uint64_t offset, uint64_t bytes) {
    return offset <= file->size && bytes <= file->size - offset;
}

const ElfW(Shdr) * tumit_file_sections(const struct tumit_mapped_file *file, size_t *count) {
    const ElfW(Ehdr) *header = (const void *)file->bytes;
    *count = 0;
    if (!tumit_file_contains(file, 0, sizeof *header) || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_shentsize != sizeof(ElfW(Shdr)) ||
        !tumit_file_contains(file, header->e_shoff, (uint64_t)header->e_shnum * sizeof(ElfW(Shdr)))) {
        return NULL;
    }
    *count = header->e_shnum;
    return (const void *)(file->bytes + header->e_shoff);
}

const ElfW(Shdr) * tumit_find_section(const struct tumit_mapped_file *file, const char *name) {
    size_t count, i;
    const ElfW(Shdr) *sections = tumit_file_sections(file, &count);
    const uint16_t names = count == 0 ? 0 : ((const ElfW(Ehdr) *)(const void *)file->bytes)->e_shstrndx;
    const size_t bytes = strlen(name) + 1;
    if (names >= count || !tumit_file_contains(file, sections[names].sh_offset, sections[names].sh_size)) {
        return NULL;
    }
    for (i = 0; i < count; i++) {
        const uint64_t offset = sections[i].sh_name;
        if (offset <= sections[names].sh_size && bytes <= sections[names].sh_size - offset &&
            memcmp(file->bytes + sections[names].sh_offset + offset, name, bytes) == 0) {
            return &sections[i];
        }
    }
    return NULL;
}
