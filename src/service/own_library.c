/* SPDX-License-Identifier: MIT */
#include "service/own_library.h"

#include <gnu/libc-version.h>
#include <limits.h>
#include <unistd.h>

#include "base/text.h"
#include "system/elf.h"
#include "system/library_copies.h"
#include "system/proc.h"

#define EARLY 101 /* the other constructors ask for the path */

static char path[2 * PATH_MAX];

/* LD_PRELOAD may name the library relative to the directory where the program starts. */
__attribute__((constructor(EARLY))) static void find_path(void)
{
    struct ct_object o;
    struct ct_text t = ct_text_in(path, sizeof(path));
    if (!ct_object_of(path, &o) || !o.name || !*o.name)
        return;
    if (*o.name != '/') {
        ct_proc_look_for_filters();
        ct_proc_directory(path, PATH_MAX);
        if (!*path)
            return;
        t.len = ct_strlen(path);
        ct_text_add_char(&t, '/');
    }
    ct_text_add(&t, o.name);
    if (ct_text_full(&t))
        *path = '\0';
}

const char *ct_own_library_path(void)
{
    return *path ? path : NULL;
}

struct places {
    bool ours, libc;
};

static bool is_us_or_libc(const struct ct_object *o, void *arg)
{
    struct places *p = arg;
    p->ours = ct_object_has(o, (const void *)(uintptr_t)is_us_or_libc);
    p->libc = ct_object_has(o, (const void *)(uintptr_t)gnu_get_libc_version);
    return p->ours || p->libc;
}

bool ct_own_library_is_preloaded(void)
{
    struct places p = {0};
    if (ct_stands_aside())
        return false;
    ct_objects_visit(is_us_or_libc, &p);
    return p.ours;
}
