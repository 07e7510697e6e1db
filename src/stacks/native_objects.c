/* SPDX-License-Identifier: MIT */
#include "stacks/native_objects.h"

#include <errno.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/text.h"
#include "containers/intern.h"
#include "stacks/tree.h"
#include "system/spare.h"
#include "system/spin.h"

#define BUILD_ID_BYTES 32
#define NAME_BYTES 4 /* of "GNU", and a zero */

static CT_PROCESS struct ct_native_object objects[CT_NATIVE_OBJECTS + 1];
static CT_PROCESS _Atomic uint32_t count;
static CT_PROCESS struct ct_spin lock;

bool ct_object_has_code(const struct ct_object *o, uintptr_t address)
{
    for (unsigned i = 0; i < o->header_count; i++) {
        const ElfW(Phdr) *p = &o->headers[i];
        if (p->p_type == PT_LOAD && p->p_flags & PF_X &&
            address - (o->base + p->p_vaddr) < p->p_memsz)
            return true;
    }
    return false;
}

bool ct_native_is_ours(const struct ct_object *o)
{
    return ct_object_has_code(o, (uintptr_t)&ct_native_is_ours) ||
           ct_is_library(o->name, "libcuda.so") || ct_is_library(o->name, "libcudart.so");
}

/* ---- names ---- */

struct search {
    uintptr_t address;
    uintptr_t offset;
    char path[CT_STACK_TEXT_BYTES];
    char build_id[2 * BUILD_ID_BYTES + 1];
};

static void spell_build_id(const uint8_t *bytes, uint32_t length, char *to)
{
    static const char digits[] = "0123456789abcdef";
    for (uint32_t i = 0; i < length && i < BUILD_ID_BYTES; i++) {
        *to++ = digits[bytes[i] >> 4];
        *to++ = digits[bytes[i] & 15];
    }
    *to = '\0';
}

/* Notes: lengths of name and contents, a kind, then both, each to a multiple of 4. */
static void read_notes(const uint8_t *at, size_t bytes, char *build_id)
{
    const ElfW(Nhdr) * n;
    while (bytes >= sizeof(*n)) {
        n = (const ElfW(Nhdr) *)(const void *)at;
        uint64_t name = ((uint64_t)n->n_namesz + 3) & ~(uint64_t)3;
        uint64_t size = sizeof(*n) + name + (((uint64_t)n->n_descsz + 3) & ~(uint64_t)3);
        if (size > bytes)
            return;
        if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == NAME_BYTES &&
            ct_same_text("GNU", (const char *)(n + 1), NAME_BYTES - 1))
            spell_build_id(at + sizeof(*n) + name, n->n_descsz, build_id);
        at += size;
        bytes -= size;
    }
}

static bool take_object(const struct ct_object *o, void *arg)
{
    struct search *s = arg;
    if (!ct_object_has_code(o, s->address))
        return false;
    s->offset = s->address - o->base;
    struct ct_text path = ct_text_in(s->path, sizeof(s->path));
    ct_text_add(&path, o->name);
    for (unsigned i = 0; i < o->header_count; i++)
        if (o->headers[i].p_type == PT_NOTE && !*s->build_id)
            read_notes((const uint8_t *)(o->base + o->headers[i].p_vaddr), o->headers[i].p_memsz,
                       s->build_id);
    return true;
}

/* The loader names the program "", and others as they were asked for, perhaps from the directory
 * of that time: a build-id tells then whether the file is the right one. */
static void complete_path(char path[CT_STACK_TEXT_BYTES])
{
    char name[CT_STACK_TEXT_BYTES];
    if (ct_spare() || *path == '/' || (*path && ct_file_name(path) == path))
        return;
    if (!*path) {
        ssize_t length = readlink("/proc/self/exe", path, CT_STACK_TEXT_BYTES - 1);
        path[length > 0 ? length : 0] = '\0';
        return;
    }
    __builtin_memcpy(name, path, sizeof(name));
    if (!getcwd(path, CT_STACK_TEXT_BYTES)) {
        __builtin_memcpy(path, name, sizeof(name));
        return;
    }
    struct ct_text text = {.data = path, .len = ct_strlen(path), .size = CT_STACK_TEXT_BYTES};
    ct_text_add_char(&text, '/');
    ct_text_add(&text, name);
}

/* ---- numbers ---- */

static uint32_t add(const char *path, const char *build_id)
{
    uint32_t n = atomic_load_explicit(&count, memory_order_relaxed);
    for (uint32_t i = 1; i <= n; i++)
        if (objects[i].path == path && objects[i].build_id == build_id)
            return i;
    if (n == CT_NATIVE_OBJECTS)
        return 0;
    objects[n + 1] = (struct ct_native_object){path, build_id};
    atomic_store_explicit(&count, n + 1, memory_order_release);
    return n + 1;
}

uint32_t ct_native_object_of(uintptr_t address, uintptr_t *offset)
{
    struct search s = {.address = address};
    int saved_errno = errno;
    if (ct_objects_visit(take_object, &s))
        complete_path(s.path);
    errno = saved_errno;
    *offset = s.offset;
    const char *path = ct_intern(s.path, ct_strlen(s.path));
    const char *build_id = ct_intern(s.build_id, ct_strlen(s.build_id));
    if (!path || !build_id)
        return 0;
    ct_spin_lock(&lock);
    uint32_t number = add(path, build_id);
    ct_spin_unlock(&lock);
    return number;
}

uint32_t ct_native_objects(void)
{
    return atomic_load_explicit(&count, memory_order_acquire);
}

const struct ct_native_object *ct_native_object(uint32_t number)
{
    return &objects[number];
}
