/* SPDX-License-Identifier: MIT */
#include "system/library_copies.h"

#include <stdatomic.h>

/* Every version exports this name, and dlsym. */
#define SIGN "cutrace_v1_flush"
/* A copy that exports this name tells of the others when CUDA starts. */
#define TELLS "cutrace_tells_of_copies"

CT_EXPORT extern const char cutrace_tells_of_copies;
const char cutrace_tells_of_copies = 1;

static struct ct_object object_of(const struct link_map *m)
{
    return (struct ct_object){.base = m->l_addr, .dynamic = m->l_ld, .name = m->l_name};
}

bool ct_is_copy(const struct ct_object *o)
{
    return ct_object_symbol(o, SIGN) && ct_object_symbol(o, "dlsym");
}

/* Walks in load order, which among preloaded objects is the search order; `o` is the first copy. */
static bool find_first(struct ct_object *o)
{
    for (const struct link_map *m = _r_debug.r_map; m && m->l_ld != _DYNAMIC; m = m->l_next) {
        *o = object_of(m);
        if (ct_is_copy(o))
            return true;
    }
    return false;
}

bool ct_stands_aside(void)
{
    enum { UNKNOWN, FIRST, ASIDE };
    static _Atomic uint32_t place;
    struct ct_object o;
    uint32_t known = atomic_load_explicit(&place, memory_order_relaxed);
    if (known == UNKNOWN) {
        known = find_first(&o) ? ASIDE : FIRST;
        atomic_store_explicit(&place, known, memory_order_relaxed);
    }
    return known == ASIDE;
}

bool ct_first_copy_tells(void)
{
    struct ct_object o;
    return find_first(&o) && ct_object_symbol(&o, TELLS);
}

void *ct_behind_copies(const char *name, void *found)
{
    bool past = false;
    for (const struct link_map *m = _r_debug.r_map; m && found; m = m->l_next) {
        struct ct_object o = object_of(m);
        void *own = ct_object_symbol(&o, name);
        if (!own || m->l_ld == _DYNAMIC || (!past && own != found))
            continue;
        if (!ct_is_copy(&o))
            return own;
        past = true;
    }
    return past ? NULL : found;
}
