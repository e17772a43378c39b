/* The sections of the program and its libraries, from their files. */

#ifndef TUMIT_FILE_SECTIONS_H
#define TUMIT_FILE_SECTIONS_H

#include <link.h>
#include <stddef.h>
#include <stdint.h>

/* A file in memory. */
struct tumit_mapped_file {
    const unsigned char *bytes;
    size_t size;
};

/* Maps a file into memory. The empty path is that of the program. Returns 0 if it cannot be read.
 * Allocates nothing by `malloc`. */
int tumit_map_file(const char *path, struct tumit_mapped_file *file);
void tumit_unmap_file(const struct tumit_mapped_file *file);

/* Whether the file contains these bytes. */
int tumit_file_contains(const struct tumit_mapped_file *file, uint64_t offset, uint64_t bytes);

/* The sections of an ELF file. `count` is 0 for other files. */
const ElfW(Shdr) * tumit_file_sections(const struct tumit_mapped_file *file, size_t *count);

/* A section of a loaded file by its name. NULL without one. */
const ElfW(Shdr) * tumit_find_section(const struct tumit_mapped_file *file, const char *name);

#endif
