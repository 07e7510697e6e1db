/* SPDX-License-Identifier: MIT */
#include "system/elf.h"

#include "base/text.h"

struct dynamic_info {
    const ElfW(Sym) * symbols;
    const char *strings;
    const uint32_t *gnu_hash;
    const uint32_t *sysv_hash;
};

/* glibc relocates most d_ptr entries in place; other loaders leave them relative. */
static const void *pointer(const struct ct_object *o, ElfW(Addr) value)
{
    return (const void *)(value < o->base ? o->base + value : value);
}

static struct dynamic_info read_dynamic(const struct ct_object *o)
{
    struct dynamic_info info = {0};
    for (const ElfW(Dyn) *d = o->dynamic; d && d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_SYMTAB)
            info.symbols = pointer(o, d->d_un.d_ptr);
        else if (d->d_tag == DT_STRTAB)
            info.strings = pointer(o, d->d_un.d_ptr);
        else if (d->d_tag == DT_GNU_HASH)
            info.gnu_hash = pointer(o, d->d_un.d_ptr);
        else if (d->d_tag == DT_HASH)
            info.sysv_hash = pointer(o, d->d_un.d_ptr);
    }
    return info;
}

static bool is_match(const struct dynamic_info *info, uint32_t index, const char *name)
{
    const ElfW(Sym) *s = &info->symbols[index];
    unsigned type = s->st_info & 0xf;
    return s->st_shndx != SHN_UNDEF && (type == STT_FUNC || type == STT_OBJECT) &&
           ct_streq(info->strings + s->st_name, name);
}

static uint32_t hash_gnu(const char *name)
{
    uint32_t h = 5381;
    while (*name)
        h = h * 33 + (unsigned char)*name++;
    return h;
}

static uint32_t hash_sysv(const char *name)
{
    uint32_t h = 0;
    while (*name) {
        h = (h << 4) + (unsigned char)*name++;
        uint32_t high = h & 0xf0000000u;
        h = (h ^ (high >> 24)) & ~high;
    }
    return h;
}

/* DT_GNU_HASH: buckets, symbol offset, bloom words, shift; then bloom, buckets, chains. */
static uint32_t find_gnu(const struct dynamic_info *info, const char *name)
{
    const uint32_t *head = info->gnu_hash;
    uint32_t buckets = head[0], first = head[1], bloom_words = head[2];
    const uint32_t *bucket = (const uint32_t *)((const ElfW(Addr) *)(head + 4) + bloom_words);
    const uint32_t *chain = bucket + buckets;
    if (!buckets)
        return 0;
    uint32_t hash = hash_gnu(name);
    uint32_t index = bucket[hash % buckets];
    if (index < first)
        return 0;
    for (;; index++) {
        uint32_t h = chain[index - first];
        if ((h | 1) == (hash | 1) && is_match(info, index, name))
            return index;
        if (h & 1)
            return 0;
    }
}

static uint32_t find_sysv(const struct dynamic_info *info, const char *name)
{
    const uint32_t *head = info->sysv_hash;
    uint32_t buckets = head[0];
    const uint32_t *bucket = head + 2, *chain = bucket + buckets;
    if (!buckets)
        return 0;
    uint32_t index = bucket[hash_sysv(name) % buckets];
    while (index && !is_match(info, index, name))
        index = chain[index];
    return index;
}

void *ct_object_symbol(const struct ct_object *o, const char *name)
{
    struct dynamic_info info = read_dynamic(o);
    if (!info.symbols || !info.strings)
        return NULL;
    uint32_t index = 0;
    if (info.gnu_hash)
        index = find_gnu(&info, name);
    else if (info.sysv_hash)
        index = find_sysv(&info, name);
    return index ? (void *)(o->base + info.symbols[index].st_value) : NULL;
}

/* glibc's functions are in libc.so.6, before 2.34 dlsym and dlvsym in libdl.so.2. */
void *ct_libc_symbol(const char *name)
{
    for (const struct link_map *m = _r_debug.r_map; m; m = m->l_next) {
        struct ct_object o = {.base = m->l_addr, .dynamic = m->l_ld};
        if (!ct_is_library(m->l_name, "libc.so") && !ct_is_library(m->l_name, "libdl.so"))
            continue;
        void *p = ct_object_symbol(&o, name);
        if (p)
            return p;
    }
    return NULL;
}

bool ct_object_needs(const struct ct_object *o, const char *start, const char **needed)
{
    struct dynamic_info info = read_dynamic(o);
    for (const ElfW(Dyn) *d = o->dynamic; info.strings && d && d->d_tag != DT_NULL; d++) {
        if (d->d_tag != DT_NEEDED)
            continue;
        const char *name = info.strings + d->d_un.d_val;
        if (ct_starts_with(name, start)) {
            *needed = name;
            return true;
        }
    }
    return false;
}

struct visitor {
    bool (*visit)(const struct ct_object *o, void *arg);
    void *arg;
};

static int visit_one(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    const struct visitor *v = arg;
    struct ct_object o = {.base = info->dlpi_addr,
                          .start = UINTPTR_MAX,
                          .name = info->dlpi_name,
                          .headers = info->dlpi_phdr,
                          .header_count = info->dlpi_phnum};
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + p->p_vaddr;
        if (p->p_type == PT_DYNAMIC)
            o.dynamic = (const ElfW(Dyn) *)start;
        if (p->p_type != PT_LOAD)
            continue;
        if (start < o.start)
            o.start = start;
        if (start + p->p_memsz > o.end)
            o.end = start + p->p_memsz;
    }
    return o.start < o.end && v->visit(&o, v->arg);
}

bool ct_objects_visit(bool (*visit)(const struct ct_object *o, void *arg), void *arg)
{
    struct visitor v = {visit, arg};
    return dl_iterate_phdr(visit_one, &v) != 0;
}

static int take_unloaded(struct dl_phdr_info *info, size_t size, void *count)
{
    if (size >= offsetof(struct dl_phdr_info, dlpi_subs) + sizeof(info->dlpi_subs))
        *(uint64_t *)count = info->dlpi_subs;
    return 1; /* the first object tells as much as all */
}

uint64_t ct_objects_unloaded(void)
{
    uint64_t count = 0;
    dl_iterate_phdr(take_unloaded, &count);
    return count;
}

static int add_tls(struct dl_phdr_info *info, size_t size, void *bytes)
{
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_TLS)
            *(size_t *)bytes += p->p_memsz + p->p_align;
    }
    return 0;
}

size_t ct_objects_tls_bytes(void)
{
    size_t bytes = 0;
    dl_iterate_phdr(add_tls, &bytes);
    return bytes;
}

struct address_search {
    const void *address;
    struct ct_object *found;
};

static bool contains(const struct ct_object *o, void *arg)
{
    struct address_search *s = arg;
    if (!ct_object_has(o, s->address))
        return false;
    *s->found = *o;
    return true;
}

bool ct_object_of(const void *address, struct ct_object *o)
{
    struct address_search s = {address, o};
    return ct_objects_visit(contains, &s);
}
