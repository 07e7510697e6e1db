/* SPDX-License-Identifier: MIT */
#include "report/symbols/elf_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_inside(const struct ct_elf_file *f, uint64_t offset, uint64_t bytes)
{
    return offset <= f->bytes && bytes <= f->bytes - offset;
}

/* A copy: nothing in a file need be aligned. */
static bool copy(const struct ct_elf_file *f, uint64_t offset, void *to, size_t bytes)
{
    if (!is_inside(f, offset, bytes))
        return false;
    memcpy(to, f->data + offset, bytes);
    return true;
}

static bool map(struct ct_elf_file *f, int fd)
{
    struct stat s;
    if (fstat(fd, &s) || !S_ISREG(s.st_mode) || s.st_size < (off_t)sizeof(Elf64_Ehdr))
        return false;
    void *data = mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED)
        return false;
    f->data = data;
    f->bytes = (size_t)s.st_size;
    return true;
}

bool ct_elf_open(struct ct_elf_file *f, const char *path)
{
    static const unsigned char magic[] = {ELFMAG0, ELFMAG1,    ELFMAG2,
                                          ELFMAG3, ELFCLASS64, ELFDATA2LSB};
    *f = (struct ct_elf_file){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    errno = 0;
    bool is_mapped = map(f, fd);
    int error = errno;
    close(fd);
    if (is_mapped && memcmp(f->data, magic, sizeof(magic))) {
        ct_elf_close(f);
        is_mapped = false;
    }
    errno = error;
    return is_mapped;
}

void ct_elf_close(struct ct_elf_file *f)
{
    if (f->data)
        munmap((void *)(uintptr_t)f->data, f->bytes);
    free(f->functions);
    *f = (struct ct_elf_file){0};
}

/* ---- the build-id ---- */

static bool read_notes(const struct ct_elf_file *f, const Elf64_Phdr *p, struct ct_string *out)
{
    uint64_t at = p->p_offset, end = at + p->p_filesz;
    Elf64_Nhdr n;
    char name[4];
    while (at < end && copy(f, at, &n, sizeof(n))) {
        uint64_t contents = at + sizeof(n) + (((uint64_t)n.n_namesz + 3) & ~(uint64_t)3);
        if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == sizeof(name) &&
            copy(f, at + sizeof(n), name, sizeof(name)) && !memcmp(name, "GNU", sizeof(name)) &&
            is_inside(f, contents, n.n_descsz)) {
            for (uint32_t i = 0; i < n.n_descsz; i++)
                ct_string_printf(out, "%02x", f->data[contents + i]);
            return true;
        }
        at = contents + (((uint64_t)n.n_descsz + 3) & ~(uint64_t)3);
    }
    return false;
}

void ct_elf_build_id(const struct ct_elf_file *f, struct ct_string *out)
{
    Elf64_Ehdr head;
    Elf64_Phdr p;
    ct_string_put(out, "");
    if (!copy(f, 0, &head, sizeof(head)))
        return;
    for (unsigned i = 0; i < head.e_phnum; i++)
        if (copy(f, head.e_phoff + (uint64_t)i * head.e_phentsize, &p, sizeof(p)) &&
            p.p_type == PT_NOTE && is_inside(f, p.p_offset, p.p_filesz) && read_notes(f, &p, out))
            return;
}

/* ---- functions ---- */

static bool section_of(const struct ct_elf_file *f, const Elf64_Ehdr *head, unsigned i,
                       Elf64_Shdr *s)
{
    return i < head->e_shnum &&
           copy(f, head->e_shoff + (uint64_t)i * head->e_shentsize, s, sizeof(*s)) &&
           is_inside(f, s->sh_offset, s->sh_size);
}

static void add_symbols(struct ct_elf_file *f, const Elf64_Shdr *symbols, const Elf64_Shdr *strings)
{
    size_t size = 0;
    const char *texts = (const char *)f->data + strings->sh_offset;
    if (!strings->sh_size || texts[strings->sh_size - 1])
        return;
    for (uint64_t i = 0; i < symbols->sh_size / sizeof(Elf64_Sym); i++) {
        Elf64_Sym s;
        copy(f, symbols->sh_offset + i * sizeof(s), &s, sizeof(s));
        unsigned type = ELF64_ST_TYPE(s.st_info);
        if (s.st_shndx == SHN_UNDEF || (type != STT_FUNC && type != STT_GNU_IFUNC) ||
            s.st_name >= strings->sh_size || s.st_value + s.st_size < s.st_value)
            continue;
        f->functions =
            ct_memory_grow(f->functions, &size, f->function_count + 1, sizeof(*f->functions));
        f->functions[f->function_count++] =
            (struct ct_elf_function){s.st_value, s.st_value + s.st_size, texts + s.st_name};
    }
}

static int by_start(const void *a, const void *b)
{
    const struct ct_elf_function *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}

/* All symbols where they have not been stripped, else those for the dynamic linker. */
static void list_functions(struct ct_elf_file *f)
{
    static const uint32_t kinds[] = {SHT_SYMTAB, SHT_DYNSYM};
    Elf64_Ehdr head;
    Elf64_Shdr s, strings;
    f->is_listed = true;
    if (!copy(f, 0, &head, sizeof(head)))
        return;
    for (unsigned k = 0; k < 2 && !f->function_count; k++)
        for (unsigned i = 0; i < head.e_shnum; i++)
            if (section_of(f, &head, i, &s) && s.sh_type == kinds[k] &&
                section_of(f, &head, s.sh_link, &strings) && strings.sh_type == SHT_STRTAB)
                add_symbols(f, &s, &strings);
    if (f->function_count)
        qsort(f->functions, f->function_count, sizeof(*f->functions), by_start);
}

const char *ct_elf_function(struct ct_elf_file *f, uint64_t address)
{
    if (!f->is_listed)
        list_functions(f);
    size_t low = 0, high = f->function_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (f->functions[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low || address >= f->functions[low - 1].end)
        return NULL;
    return f->functions[low - 1].name;
}
