/* SPDX-License-Identifier: MIT */
#include "cuda/api.h"

#include <stdatomic.h>

#include "base/text.h"

const char *const ct_api_names[CT_API_COUNT] = {
#define CT_API(fn, ...) #fn,
#define CT_PTSZ(fn, ...) #fn, #fn "_ptsz",
#define CT_PTDS(fn, ...) #fn, #fn "_ptds",
#include "cuda/driver_api.def"
#define CT_API(fn, ...) #fn,
#define CT_PTSZ(fn, ...) #fn, #fn "_ptsz",
#define CT_PTDS(fn, ...) #fn, #fn "_ptds",
#include "cuda/handed_api.def"
#define CT_API(fn, ...) #fn,
#define CT_PTSZ(fn, ...) #fn, #fn "_ptsz",
#define CT_PTDS(fn, ...) #fn, #fn "_ptds",
#define CT_OTHER(type, fn, ...) #fn,
#define CT_RAW(fn, words) #fn,
#define CT_RAW_PTSZ(fn, words) #fn, #fn "_ptsz",
#include "cuda/runtime_api.def"
};

ct_function ct_driver_real[CT_DRIVER_COUNT];

#define INDEX_SLOTS 4096
_Static_assert(CT_API_COUNT < INDEX_SLOTS / 2, "the index is too small");

/* id + 1 by hash of the name. Filled by the first thread that asks; two write the same values. */
static _Atomic uint16_t name_index[INDEX_SLOTS];
static atomic_bool name_index_ready;

static void fill_name_index(void)
{
    for (uint32_t id = 0; id < CT_API_COUNT; id++) {
        uint64_t i = ct_hash_text(ct_api_names[id]) % INDEX_SLOTS;
        uint16_t there;
        if (ct_api_is_handed(id))
            continue;
        while ((there = atomic_load_explicit(&name_index[i], memory_order_relaxed)) &&
               there != id + 1)
            i = (i + 1) % INDEX_SLOTS;
        atomic_store_explicit(&name_index[i], (uint16_t)(id + 1), memory_order_relaxed);
    }
    atomic_store_explicit(&name_index_ready, true, memory_order_release);
}

uint32_t ct_api_find(const char *name)
{
    if (!atomic_load_explicit(&name_index_ready, memory_order_acquire))
        fill_name_index();
    uint64_t i = ct_hash_text(name) % INDEX_SLOTS;
    uint16_t there;
    while ((there = atomic_load_explicit(&name_index[i], memory_order_relaxed))) {
        if (ct_streq(ct_api_names[there - 1], name))
            return there - 1u;
        i = (i + 1) % INDEX_SLOTS;
    }
    return CT_API_NONE;
}

bool ct_api_looks_like_capture(const char *name)
{
    return ct_contains(name, "Begin") && ct_contains(name, "apture");
}

/* A name is work if it has all parts of a row; NULL: there is no second part. */
static const char *const work[][2] = {
    {"Launch", NULL},   {"Memcpy", NULL},     {"Memset", NULL},        {"Cpy", NULL},
    {"Prefetch", NULL}, {"Batch", NULL},      {"Async", NULL},         {"Begin", "apture"},
    {"End", "apture"},  {"GraphExec", "Set"}, {"GraphExec", "Update"}, {"StreamW", "Value"},
};
/* Parts of names that ask or make ready; each runtime asks for OpenGL's buffer objects. */
static const char *const no_work[] = {"Get",       "Query",   "Node",
                                      "Attribute", "egister", "BufferObject"};

static bool has_parts(const char *name, const char *const parts[2])
{
    return ct_contains(name, parts[0]) && (!parts[1] || ct_contains(name, parts[1]));
}

bool ct_api_looks_like_work(const char *name)
{
    bool is_change = has_parts(name, (const char *const[]){"GraphExec", "Set"});
    for (unsigned i = 0; !is_change && i < ct_countof(no_work); i++)
        if (ct_contains(name, no_work[i]))
            return false;
    for (unsigned i = 0; i < ct_countof(work); i++)
        if (has_parts(name, work[i]))
            return true;
    return false;
}
