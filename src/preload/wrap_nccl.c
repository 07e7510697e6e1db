/* SPDX-License-Identifier: MIT */
/*
 * NCCL's wrappers: one exported function for each row of nccl_api.def. They tell the purpose of the
 * kernels that the call launches, and nothing else: its kernels and copies are caught in the
 * driver.
 */
#include <errno.h>

#include "cuda/args.h"
#include "preload/nccl.h"
#include "preload/wrap.h"
#include "work/collective.h"

/* The calling thread's state; NULL: pass the call through. NCCL may call its own exports. */
static struct ct_thread *enter(void)
{
    struct ct_thread *t = ct_wrap_enter();
    return ct_likely(t && !t->nccl_depth) ? t : NULL;
}

#define CT_NCCL(fn, ...)
#define CT_ASKED(fn, ...) typedef ncclResult_t fn##_type(__VA_ARGS__);
#include "cuda/nccl_api.def"

/*
 * An answer about a communicator that a call has just succeeded with; below 0: there is none. Calls
 * that NCCL makes for the answer, NVTX's included, are not the program's.
 */
static int answer(struct ct_thread *t, ncclCommCount_type *ask, ncclComm_t comm)
{
    int n = -1, saved_errno = errno;
    if (!ask)
        return n;
    t->driver_depth++;
    ncclResult_t r = ask(comm, &n);
    t->driver_depth--;
    errno = saved_errno;
    return r == ncclSuccess ? n : -1;
}

#define ANSWER(fn, t, comm, caller)                                                                \
    answer(t, (ncclCommCount_type *)ct_nccl_real(CT_ID_##fn, caller), comm)

static bool is_failure(ncclResult_t r)
{
    return r != ncclSuccess && r != CT_NCCL_IN_PROGRESS;
}

static void end_operation(struct ct_thread *t, struct ct_collective_call *c, ncclComm_t comm,
                          ncclResult_t r, const void *caller)
{
    bool failed = is_failure(r);
    if (r == ncclSuccess) { /* a communicator that is not ready yet would complain */
        int ranks = ANSWER(ncclCommCount, t, comm, caller);
        c->ranks = ranks > 0 ? (uint32_t)ranks : 0;
        c->rank = (uint32_t)(ANSWER(ncclCommUserRank, t, comm, caller) + 1);
    }
    ct_collective_end(t, c, failed);
}

/* clang-format off */
#define BEGIN_OPERATION(what, n, type, of, comm, s) \
    struct ct_collective_call ct_c = { \
        .kind = CT_COLLECTIVE_##what, .datatype = (uint32_t)(type), .peer = (uint32_t)(of), \
        .bytes = (n) * ct_nccl_bytes_of((unsigned)(type)), .communicator = comm, .stream = (CUstream)(s)}; \
    ct_collective_begin(ct_t, &ct_c);
#define END_OPERATION(what, n, type, of, comm, s) end_operation(ct_t, &ct_c, comm, ct_r, ct_caller);
#define BEGIN_GROUP_START
#define END_GROUP_START if (!is_failure(ct_r)) ct_collective_group_starts(ct_t);
#define BEGIN_GROUP_END
#define END_GROUP_END ct_collective_group_ends(ct_t, is_failure(ct_r));

/* With our prototype: the header may not be here, and has some functions without parameters. */
#define CT_NCCL(fn, kind, ...) \
    CT_EXPORT ncclResult_t fn(CT_PARAMS(__VA_ARGS__)); \
    CT_EXPORT ncclResult_t fn(CT_PARAMS(__VA_ARGS__)) \
    { \
        const void *const ct_caller = __builtin_return_address(0); \
        __typeof__(fn) *ct_f = (__typeof__(fn) *)ct_nccl_real(CT_ID_##fn, ct_caller); \
        if (ct_unlikely(!ct_f)) \
            return ncclInternalError; \
        struct ct_thread *ct_t = enter(); \
        if (ct_unlikely(!ct_t)) \
            return ct_f(CT_ARGS(__VA_ARGS__)); \
        BEGIN_##kind \
        ct_t->nccl_depth++; \
        const ncclResult_t ct_r = ct_f(CT_ARGS(__VA_ARGS__)); \
        ct_t->nccl_depth--; \
        END_##kind \
        return ct_r; \
    }
#define CT_ASKED(fn, ...)
#include "cuda/nccl_api.def"

ct_function ct_nccl_wrapper(uint32_t id)
{
    static const ct_function wrappers[CT_NCCL_COUNT] = {
#define CT_NCCL(fn, ...) (ct_function)fn,
#define CT_ASKED(fn, ...) NULL,
#include "cuda/nccl_api.def"
    };
    return wrappers[id];
}
/* clang-format on */
