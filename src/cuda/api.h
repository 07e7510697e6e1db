/* SPDX-License-Identifier: MIT */
/*
 * The CUDA interface as data: an id for each function of the tables, its name, and the real
 * function's address once the driver has been found.
 */
#ifndef CT_API_H
#define CT_API_H

#include "base/base.h"
#include "cuda/newer_api.h" /* first: it includes cuda.h */

enum ct_api_id {
#define CT_API(fn, ...) CT_ID_##fn,
#define CT_PTSZ(fn, ...) CT_ID_##fn, CT_ID_##fn##_ptsz,
#define CT_PTDS(fn, ...) CT_ID_##fn, CT_ID_##fn##_ptds,
#include "cuda/driver_api.def"
    CT_HANDED_FIRST,
    CT_HANDED_BEFORE = CT_HANDED_FIRST - 1, /* the next one is CT_HANDED_FIRST */
#define CT_API(fn, ...) CT_ID_##fn,
#define CT_PTSZ(fn, ...) CT_ID_##fn, CT_ID_##fn##_ptsz,
#define CT_PTDS(fn, ...) CT_ID_##fn, CT_ID_##fn##_ptds,
#include "cuda/handed_api.def"
    CT_DRIVER_COUNT,
    CT_RUNTIME_FIRST = CT_DRIVER_COUNT,
    CT_RUNTIME_BEFORE = CT_RUNTIME_FIRST - 1, /* the next one is CT_RUNTIME_FIRST */
#define CT_API(fn, ...) CT_ID_##fn,
#define CT_PTSZ(fn, ...) CT_ID_##fn, CT_ID_##fn##_ptsz,
#define CT_PTDS(fn, ...) CT_ID_##fn, CT_ID_##fn##_ptds,
#define CT_OTHER(type, fn, ...) CT_ID_##fn,
#define CT_RAW(fn, words) CT_ID_##fn,
#define CT_RAW_PTSZ(fn, words) CT_ID_##fn, CT_ID_##fn##_ptsz,
#include "cuda/runtime_api.def"
    CT_API_COUNT
};

/* Whether the function's wrapper is not exported, and only cuGetProcAddress hands it out. */
static inline bool ct_api_is_handed(uint32_t id)
{
    return id >= CT_HANDED_FIRST && id < CT_DRIVER_COUNT;
}

#define CT_RUNTIME_COUNT (CT_API_COUNT - CT_RUNTIME_FIRST)
#define CT_API_NONE UINT32_MAX

typedef void (*ct_function)(void);

extern const char *const ct_api_names[CT_API_COUNT];

/* Id of a name that we export; CT_API_NONE for others. Calls nothing, takes no lock. */
uint32_t ct_api_find(const char *name);

/*
 * Whether a name outside the tables looks like a function that puts work on the GPU, begins or ends
 * a capture or changes an executable graph; and whether it looks like one that begins a capture.
 */
bool ct_api_looks_like_work(const char *name);
bool ct_api_looks_like_capture(const char *name);

/* The driver's functions by id; NULL before the driver was found, and for those it lacks. */
extern ct_function ct_driver_real[CT_DRIVER_COUNT];

#define CT_HAS(fn) (ct_driver_real[CT_ID_##fn] != NULL)
#define CT_REAL(fn) ((__typeof__(fn) *)ct_driver_real[CT_ID_##fn])

#endif
