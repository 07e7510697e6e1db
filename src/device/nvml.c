/* SPDX-License-Identifier: MIT */
#include "device/nvml.h"

#include <dlfcn.h>
#include <link.h>

#include "system/elf.h"

struct search {
    const struct link_map *map;
    struct ct_object found;
};

static bool is_it(const struct ct_object *o, void *arg)
{
    struct search *s = arg;
    if (o->dynamic != s->map->l_ld)
        return false;
    s->found = *o;
    return true;
}

/* No dlsym: that is ours, and other interposers', and leaves a text for dlerror. */
bool ct_nvml_load(struct ct_nvml *nvml)
{
    struct search s = {.map = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)};
    if (!s.map || !ct_objects_visit(is_it, &s))
        return false;
#define X(member, symbol, arguments)                                                               \
    nvml->member = (int(*) arguments)(uintptr_t)ct_object_symbol(&s.found, #symbol);
    CT_NVML_FUNCTIONS(X)
#undef X
    return true;
}
