/* SPDX-License-Identifier: MIT */
#include "driver/caller.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIBRARY "/libcutrace.so"
#define SEEN "seen_"
#define CACHE 1024

bool sim_caller_named(const char *name, enum sim_caller *caller)
{
    static const char *const names[] = {
        [SIM_PROGRAM] = "program", [SIM_CUTRACE] = "cutrace", [SIM_DRAIN] = "drain"};
    for (unsigned i = SIM_PROGRAM; i <= SIM_DRAIN; i++)
        if (!strcmp(names[i], name)) {
            *caller = (enum sim_caller)i;
            return true;
        }
    return false;
}

/* Whether a symbol is that of a wrapper of the function, or of its part that looks at the call. */
static bool is_wrapper(const char *symbol, const char *function)
{
    const char *name = !strncmp(symbol, SEEN, strlen(SEEN)) ? symbol + strlen(SEEN) : symbol;
    return !strncmp(name, function, strlen(function));
}

/* Looks in the table of all symbols of a file; the dynamic one lacks the static functions. */
static bool is_wrapper_in(const char *file, size_t bytes, uint64_t at, const char *function)
{
    const Elf64_Ehdr *elf = (const void *)file;
    const Elf64_Shdr *sections = (const void *)(file + elf->e_shoff);
    for (unsigned i = 0; i < elf->e_shnum; i++) {
        const Elf64_Shdr *s = &sections[i];
        if (s->sh_type != SHT_SYMTAB || s->sh_offset + s->sh_size > bytes)
            continue;
        const Elf64_Sym *symbols = (const void *)(file + s->sh_offset);
        const char *names = file + sections[s->sh_link].sh_offset;
        for (size_t k = 0; k < s->sh_size / sizeof(*symbols); k++)
            if (ELF64_ST_TYPE(symbols[k].st_info) == STT_FUNC && at >= symbols[k].st_value &&
                at < symbols[k].st_value + symbols[k].st_size)
                return is_wrapper(names + symbols[k].st_name, function);
    }
    return false;
}

static bool is_wrapper_of_file(const Dl_info *info, const void *address, const char *function)
{
    struct stat st;
    uint64_t at = (uintptr_t)address - (uintptr_t)info->dli_fbase;
    int fd = open(info->dli_fname, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    size_t bytes = fstat(fd, &st) ? 0 : (size_t)st.st_size;
    void *file = bytes ? mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    close(fd);
    if (file == MAP_FAILED)
        return false;
    bool is_one = is_wrapper_in(file, bytes, at, function);
    munmap(file, bytes);
    return is_one;
}

/* A wrapper's symbol is the function's own name, or that of its per-thread twin. */
static bool look_up(const void *address, const char *function)
{
    Dl_info info;
    if (!dladdr(address, &info) || !info.dli_fname || !strstr(info.dli_fname, LIBRARY))
        return false;
    if (info.dli_sname && is_wrapper(info.dli_sname, function))
        return false;
    return !is_wrapper_of_file(&info, address, function);
}

/* Of each place of a call it is asked once. */
static bool is_cutrace(const void *address, const char *function)
{
    static _Atomic uint64_t cache[CACHE]; /* address << 1 | answer */
    _Atomic uint64_t *slot = &cache[(uintptr_t)address % CACHE];
    uint64_t known = atomic_load_explicit(slot, memory_order_relaxed);
    if (known >> 1 != (uintptr_t)address) {
        known = (uint64_t)(uintptr_t)address << 1 | look_up(address, function);
        atomic_store_explicit(slot, known, memory_order_relaxed);
    }
    return known & 1;
}

static bool is_drain_thread(void)
{
    char name[16] = "";
    prctl(PR_GET_NAME, name);
    return !strcmp(name, "cutrace");
}

bool sim_caller_is(enum sim_caller caller, const void *address, const char *function)
{
    switch (caller) {
    case SIM_PROGRAM:
        return !is_cutrace(address, function);
    case SIM_CUTRACE:
        return is_cutrace(address, function);
    case SIM_DRAIN:
        return is_drain_thread() && is_cutrace(address, function);
    default:
        return true;
    }
}
