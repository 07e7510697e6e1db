/* SPDX-License-Identifier: MIT */
/*
 * G1: is every pointer that cuGetProcAddress returns the address of an exported symbol? cutrace
 * tells the ABI of a pointer by that. Asks for every exported name, and for it without its suffix,
 * with every version and every flag.
 */
#include <cuda.h>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 4096

struct symbol {
    char name[96];
    void *address;
};

static struct symbol exports[MOST];
static char bases[MOST][96];
static size_t export_count, base_count;

/* The number of dynamic symbols, which only the hash table knows. */
static size_t symbols_in(const uint32_t *gnu_hash)
{
    uint32_t buckets = gnu_hash[0], first = gnu_hash[1], bloom = gnu_hash[2], last = 0;
    const uint32_t *bucket = gnu_hash + 4 + bloom * (sizeof(ElfW(Addr)) / 4);
    const uint32_t *chain = bucket + buckets;

    for (uint32_t i = 0; i < buckets; i++)
        last = bucket[i] > last ? bucket[i] : last;
    if (last < first)
        return first;
    while (!(chain[last - first] & 1))
        last++;
    return (size_t)last + 1;
}

static void list_exports(void *handle)
{
    struct link_map *map = NULL;
    const ElfW(Sym) *symbols = NULL;
    const char *strings = NULL;
    const uint32_t *hash = NULL;

    dlinfo(handle, RTLD_DI_LINKMAP, &map);
    for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_SYMTAB)
            symbols = (const void *)d->d_un.d_ptr;
        if (d->d_tag == DT_STRTAB)
            strings = (const void *)d->d_un.d_ptr;
        if (d->d_tag == DT_GNU_HASH)
            hash = (const void *)d->d_un.d_ptr;
    }
    if (!symbols || !strings || !hash)
        return;
    for (size_t i = 0, n = symbols_in(hash); i < n && export_count < MOST; i++) {
        const char *name = strings + symbols[i].st_name;

        if (symbols[i].st_shndx == SHN_UNDEF || strncmp(name, "cu", 2) || strlen(name) > 95)
            continue;
        strcpy(exports[export_count].name, name);
        exports[export_count++].address = dlsym(handle, name);
    }
}

static const char *exported(const void *address)
{
    for (size_t i = 0; i < export_count; i++)
        if (exports[i].address == address)
            return exports[i].name;
    return NULL;
}

static void add_base(const char *name)
{
    for (size_t i = 0; i < base_count; i++)
        if (!strcmp(bases[i], name))
            return;
    if (base_count < MOST)
        strcpy(bases[base_count++], name);
}

/* The name itself, without _ptsz or _ptds, and without _v2, _v3 too. */
static void add_bases(const char *exported_name)
{
    char name[96], *end;

    strcpy(name, exported_name);
    add_base(name);
    end = strrchr(name, '_');
    if (end && (!strcmp(end, "_ptsz") || !strcmp(end, "_ptds"))) {
        *end = 0;
        add_base(name);
        end = strrchr(name, '_');
    }
    if (end && end[1] == 'v' && end[2] >= '1' && end[2] <= '9' && !end[3]) {
        *end = 0;
        add_base(name);
    }
}

struct tally {
    unsigned long asked, found, strange, distinct_strange, renamed;
    void *seen[64];
};

static void note_strange(struct tally *t, void *pointer, const char *name, int version, int flag)
{
    Dl_info info;

    t->strange++;
    for (unsigned long i = 0; i < t->distinct_strange && i < 64; i++)
        if (t->seen[i] == pointer)
            return;
    if (t->distinct_strange < 64)
        t->seen[t->distinct_strange] = pointer;
    t->distinct_strange++;
    if (t->distinct_strange <= 12)
        printf("   not exported: %s, version %d, flag %d (in %s)\n", name, version, flag,
               dladdr(pointer, &info) && info.dli_fname ? info.dli_fname : "no file");
}

static void ask(struct tally *t, const char *name, int version, int flag)
{
    CUdriverProcAddressQueryResult status;
    void *pointer = NULL;
    const char *found;

    t->asked++;
    if (cuGetProcAddress(name, &pointer, version, (cuuint64_t)flag, &status) != CUDA_SUCCESS ||
        !pointer)
        return;
    t->found++;
    found = exported(pointer);
    if (!found)
        note_strange(t, pointer, name, version, flag);
    else if (strncmp(found, name, strlen(name)))
        t->renamed++;
}

int main(void)
{
    void *handle = dlopen("libcuda.so.1", RTLD_NOW);
    struct tally t;
    int driver = 0;

    memset(&t, 0, sizeof(t));
    if (!handle || cuInit(0) != CUDA_SUCCESS)
        return printf("   no driver\n"), 1;
    cuDriverGetVersion(&driver);
    list_exports(handle);
    for (size_t i = 0; i < export_count; i++)
        add_bases(exports[i].name);
    for (size_t i = 0; i < base_count; i++)
        for (int major = 2; major <= driver / 1000; major++)
            for (int minor = 0; minor < 10; minor++)
                for (int flag = 0; flag < 3; flag++)
                    if (major * 1000 + minor * 10 <= driver)
                        ask(&t, bases[i], major * 1000 + minor * 10, flag);
    printf("G1 answer: driver %d, %zu exports, %zu names, %lu questions, %lu answers: %lu with a "
           "pointer that no export has (%lu distinct); %lu of a symbol with another stem\n",
           driver, export_count, base_count, t.asked, t.found, t.strange, t.distinct_strange,
           t.renamed);
    return 0;
}
