/* SPDX-License-Identifier: MIT */
/*
 * The driver API's wrappers: one exported function for each row of driver_api.def, and one that is
 * not exported for each of handed_api.def.
 */
#include "counts/api_call.h"
#include "counts/api_count.h"
#include "counts/pass.h"
#include "cuda/args.h"
#include "launch/arguments.h"
#include "launch/replica_launch.h"
#include "preload/driver.h"
#include "preload/hooks.h"
#include "preload/wrap.h"
#include "state/recording.h"

/* Only functions the program is linked with come here before the driver was found. */
static CT_COLD ct_function find_real(uint32_t id)
{
    return ct_driver_function(id);
}

/* Inside a call of the runtime's that one counts. */
static inline bool ct_call_counts(uint32_t runtime_depth)
{
    return !runtime_depth && !atomic_load_explicit(&ct_calls_are_off, memory_order_relaxed);
}

/* Counts an operation that nobody records, if it is one; false: the call is inside another one. */
CT_INLINE bool goes_unrecorded(bool is_work)
{
    if (ct_likely(!atomic_load_explicit(&ct_launches_are_off, memory_order_relaxed)))
        return false;
    struct ct_thread *t = ct_thread_current;
    if (!t || t->driver_depth)
        return false;
    if (is_work)
        ct_count_bump(&t->off_operations, 1);
    return true;
}

/* NOT_READY is an answer, not an error. */
static inline bool is_failure(CUresult r)
{
    return r != CUDA_SUCCESS && r != CUDA_ERROR_NOT_READY;
}

/* clang-format off */
#define SYNC CT_SYNC
#define DIM3(x, y, z) ((struct ct_dim3){x, y, z})

/*
 * A wrapper has places where the kind of its row may have something to add: PLACE_KIND(...) is a comma and the
 * code, and GIVEN takes that, or the default of the place where a kind has no such macro. Locals begin with ct_,
 * which arguments do not.
 */
#define SECOND_(first, second, ...) second
#define SECOND(...) SECOND_(__VA_ARGS__)
#define GIVEN(code_of_kind, otherwise) SECOND(code_of_kind, otherwise, )

/* Before the real call, by default nothing; behind it, by default the end of the bracket. */
#define OPEN_WORK(work) , struct ct_bracket ct_b; const struct ct_work ct_w = work; ct_clock |= ct_bracket_open(&ct_b, &ct_w, ct_t);
#define CLOSE_WORK ct_bracket_close(&ct_b, &ct_w, ct_r, ct_t0, ct_t1);
#define OPEN_MOVE(work) OPEN_WORK(work) if (ct_w.op_flags & CT_OP_WAITED_FOR) ct_thread_waits(ct_t, ct_id, ct_ticks());
#define CLOSE_MOVE , if (ct_w.op_flags & CT_OP_WAITED_FOR) ct_thread_waits_no_more(ct_t); CLOSE_WORK
#define OPEN_KERNEL(...) OPEN_WORK(ct_work_kernel(ct_null, __VA_ARGS__))
#define OPEN_KERNEL_EX(...) OPEN_WORK(ct_work_kernel_ex(ct_null, __VA_ARGS__))
#define OPEN_GRAPH(...) OPEN_WORK(ct_work_graph(ct_null, __VA_ARGS__))
#define OPEN_COPY(direction, ...) OPEN_MOVE(ct_work_copy(ct_null, CT_##direction, __VA_ARGS__))
#define OPEN_COPY_HOST(direction, host, ...) OPEN_MOVE(ct_work_copy_host(ct_null, CT_##direction, host, __VA_ARGS__))
#define OPEN_COPY_ANY(to, from, ...) \
    OPEN_MOVE(ct_work_copy_any(ct_null, (CUdeviceptr)(uintptr_t)(to), (CUdeviceptr)(uintptr_t)(from), __VA_ARGS__))
#define OPEN_COPY_PEER(...) OPEN_MOVE(ct_work_copy_peer(ct_null, __VA_ARGS__))
#define OPEN_COPY_2D(...) OPEN_MOVE(ct_work_copy_2d(ct_null, __VA_ARGS__))
#define OPEN_COPY_2D_V1(...) OPEN_MOVE(ct_work_copy_2d_v1(ct_null, __VA_ARGS__))
#define OPEN_COPY_3D(...) OPEN_MOVE(ct_work_copy_3d(ct_null, __VA_ARGS__))
#define OPEN_COPY_3D_V1(...) OPEN_MOVE(ct_work_copy_3d_v1(ct_null, __VA_ARGS__))
#define OPEN_COPY_3D_PEER(...) OPEN_MOVE(ct_work_copy_3d_peer(ct_null, __VA_ARGS__))
#define OPEN_SET(...) OPEN_MOVE(ct_work_set(ct_null, __VA_ARGS__))
#define OPEN_PREFETCH(...) OPEN_WORK(ct_work_prefetch(ct_null, __VA_ARGS__))
#define OPEN_PREFETCH_BATCH(...) OPEN_WORK(ct_work_prefetch_batch(ct_null, __VA_ARGS__))
#define CLOSE_PLAIN ,
#define CLOSE_COPY(...) CLOSE_MOVE
#define CLOSE_COPY_HOST(...) CLOSE_MOVE
#define CLOSE_COPY_ANY(...) CLOSE_MOVE
#define CLOSE_COPY_PEER(...) CLOSE_MOVE
#define CLOSE_COPY_2D(...) CLOSE_MOVE
#define CLOSE_COPY_2D_V1(...) CLOSE_MOVE
#define CLOSE_COPY_3D(...) CLOSE_MOVE
#define CLOSE_COPY_3D_V1(...) CLOSE_MOVE
#define CLOSE_COPY_3D_PEER(...) CLOSE_MOVE
#define CLOSE_SET(...) CLOSE_MOVE

#define OPEN_MULTI(open, ...) , struct ct_multi ct_m; ct_clock = true; open(&ct_m, __VA_ARGS__, ct_t);
#define CLOSE_MULTI , ct_multi_close(&ct_m, ct_r, ct_t0, ct_t1);
#define OPEN_KERNEL_MULTI(...) OPEN_MULTI(ct_multi_open, __VA_ARGS__)
#define OPEN_COPY_BATCH(...) OPEN_MULTI(ct_batch_open, ct_null, __VA_ARGS__)
#define OPEN_COPY_3D_BATCH(...) OPEN_MULTI(ct_batch_3d_open, ct_null, __VA_ARGS__)
#define CLOSE_KERNEL_MULTI(...) CLOSE_MULTI
#define CLOSE_COPY_BATCH(...) CLOSE_MULTI
#define CLOSE_COPY_3D_BATCH(...) CLOSE_MULTI

static inline struct ct_hook hook_of(struct ct_thread *t, CUstream null_stream, CUresult result)
{
    return (struct ct_hook){t, null_stream, result};
}

#define RUN(hook, result, ...) do { \
        const struct ct_hook ct_h = hook_of(ct_t, ct_null, result); \
        hook(&ct_h __VA_OPT__(,) __VA_ARGS__); \
    } while (0);
#define HOOK(hook, result, ...) , RUN(hook, result, __VA_ARGS__)
#define OPEN_BEFORE(hook, ...) HOOK(ct_hook_##hook, CUDA_SUCCESS, __VA_ARGS__)
#define CLOSE_BEFORE(hook, ...) ,
#define CLOSE_AFTER(hook, ...) HOOK(ct_hook_##hook, ct_r, __VA_ARGS__)
#define OPEN_AROUND(hook, ...) HOOK(ct_hook_##hook##_before, CUDA_SUCCESS, __VA_ARGS__)
#define CLOSE_AROUND(hook, ...) HOOK(ct_hook_##hook##_after, ct_r, __VA_ARGS__)
/* A call that waits for the GPU: which, and since when, is seen from outside meanwhile. */
#define OPEN_WAIT(hook, ...) , ct_thread_waits(ct_t, ct_id, ct_ticks());
#define OPEN_WAIT_STREAM(hook, ...) OPEN_WAIT(hook) RUN(ct_hook_stream_waits, CUDA_SUCCESS, __VA_ARGS__)
#define CLOSE_WAIT(hook, ...) , ct_thread_waits_no_more(ct_t); RUN(ct_hook_##hook, ct_r, __VA_ARGS__)
#define CLOSE_WAIT_STREAM(hook, ...) CLOSE_WAIT(hook, __VA_ARGS__)
#define CLOSE_CHANGE(hook, ...) CLOSE_AFTER(hook, __VA_ARGS__)
#define OPEN_END(hook, ...) OPEN_BEFORE(hook, __VA_ARGS__)
#define CLOSE_END(hook, ...) ,

/* Ahead of all: whether the call goes straight on. Kinds without such a row are in doc/internals/preload.md. */
#define STRAIGHT_PLAIN , atomic_load_explicit(&ct_calls_are_off, memory_order_relaxed)
#define STRAIGHT_KERNEL(...) , goes_unrecorded(true)
#define STRAIGHT_KERNEL_EX(config, f) , goes_unrecorded((config) != NULL)
#define STRAIGHT_COPY(direction, bytes, stream) , goes_unrecorded((bytes) != 0)
#define STRAIGHT_COPY_HOST(direction, host, bytes, stream) , goes_unrecorded((bytes) != 0)
#define STRAIGHT_COPY_ANY(to, from, bytes, stream) , goes_unrecorded((bytes) != 0)
#define STRAIGHT_SET(bytes, stream) , goes_unrecorded((bytes) != 0)

/* Then whether the call is a launch that goes by without a look. */
#define BEGIN_KERNEL(...) , ct_pass_begin(ct_t)
#define BEGIN_KERNEL_EX(...) , ct_pass_begin(ct_t)
#define BEGIN_GRAPH(...) , ct_pass_begin(ct_t)
#define PASS_KERNEL(...) , ct_pass_kernel(ct_t, ct_null, __VA_ARGS__)
#define PASS_KERNEL_EX(...) , ct_pass_kernel_ex(ct_t, ct_null, __VA_ARGS__)
#define PASS_GRAPH(...) , ct_pass_graph(ct_t, ct_null, __VA_ARGS__)

/* Instead of the real call: perhaps the launch of a replica (replica.h). */
#define INSTEAD_GRAPH(exec, stream) , (ct_replica_launch(&ct_b, &ct_w) ? CUDA_SUCCESS : ct_f(exec, stream))

/*
 * Before a call that is not seen, as there is no memory for its thread, or as the driver's callback makes it
 * inside another call. Replicas must know of it all the same.
 */
#define UNSEEN_GRAPH(exec, stream) , ct_replica_unseen_launch(exec, ct_stream_meant(ct_null, stream));
#define UNSEEN_CHANGE(hook, exec, ...) , if (ct_is_on()) ct_replica_changed(exec);
#define UNSEEN_END(hook, ...) , if (ct_is_on()) ct_hook_##hook(NULL __VA_OPT__(,) __VA_ARGS__);

#define FULL(fn, null_stream, kind, ...) \
    CT_INLINE CUresult full_##fn(CT_PARAMS(__VA_ARGS__)) \
    { \
        __typeof__(fn) *ct_f = CT_REAL(fn); \
        if (ct_unlikely(!ct_f) && !(ct_f = (__typeof__(ct_f))find_real(CT_ID_##fn))) \
            return CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND; \
        const CUstream ct_null __attribute__((unused)) = null_stream; \
        const uint32_t ct_id __attribute__((unused)) = CT_ID_##fn; \
        struct ct_thread *ct_t = ct_wrap_enter(); \
        if (ct_unlikely(!ct_t || ct_t->driver_depth)) { \
            GIVEN(UNSEEN_##kind, ) \
            return ct_f(CT_ARGS(__VA_ARGS__)); \
        } \
        ct_t->driver_depth++; \
        const bool ct_counts = ct_call_counts(ct_t->runtime_depth); \
        const bool ct_due = ct_counts && ct_thread_times_call(ct_t, CT_ID_##fn); \
        bool ct_clock = ct_due; \
        GIVEN(OPEN_##kind, ) \
        const uint64_t ct_t0 = ct_clock ? ct_ticks() : 0; \
        CUresult ct_first = GIVEN(INSTEAD_##kind, ct_f(CT_ARGS(__VA_ARGS__))); \
        const CUresult ct_r = ct_unlikely(ct_first != CUDA_SUCCESS) && ct_replicas_give_up(ct_first) \
            ? ct_f(CT_ARGS(__VA_ARGS__)) : ct_first; \
        const uint64_t ct_t1 = ct_clock ? ct_ticks() : 0; \
        GIVEN(CLOSE_##kind, CLOSE_WORK) \
        ct_t->driver_depth--; \
        if (ct_counts) \
            ct_thread_count(ct_t, CT_ID_##fn, ct_due, ct_t0, ct_t1, is_failure(ct_r), (int32_t)ct_r); \
        return ct_r; \
    }

/* A call that goes straight on saves no register: the rest is a function of its own, whose name the simulator knows. */
#define WRAP(fn, null_stream, kind, ...) \
    FULL(fn, null_stream, kind, __VA_ARGS__) \
    static CT_NOINLINE CUresult seen_##fn(CT_PARAMS(__VA_ARGS__)) \
    { \
        const CUstream ct_null __attribute__((unused)) = null_stream; \
        __typeof__(fn) *ct_f = CT_REAL(fn); \
        struct ct_thread *ct_t = ct_thread_current; \
        const uint64_t ct_begin = GIVEN(BEGIN_##kind, 0); \
        struct ct_pass *ct_p = GIVEN(PASS_##kind, NULL); \
        if (ct_likely(!ct_p || !ct_f)) \
            return full_##fn(CT_ARGS(__VA_ARGS__)); \
        ct_t->driver_depth = 1; \
        const bool ct_counts = ct_call_counts(ct_t->runtime_depth); \
        const bool ct_due = ct_counts && ct_thread_times_call(ct_t, CT_ID_##fn); \
        const bool ct_clock = ct_due || ct_begin; \
        const uint64_t ct_t0 = ct_clock ? ct_ticks() : 0; \
        const CUresult ct_r = ct_f(CT_ARGS(__VA_ARGS__)); \
        const uint64_t ct_t1 = ct_clock ? ct_ticks() : 0; \
        ct_pass_made(ct_t->passes, ct_p, ct_r); \
        ct_t->driver_depth = 0; \
        if (ct_unlikely(ct_begin)) \
            ct_pass_measured(ct_begin, ct_t0, ct_t1); \
        if (ct_counts) \
            ct_thread_count(ct_t, CT_ID_##fn, ct_due, ct_t0, ct_t1, is_failure(ct_r), (int32_t)ct_r); \
        return ct_r; \
    } \
    CT_EXPORT CUresult fn(CT_PARAMS(__VA_ARGS__)) \
    { \
        __typeof__(fn) *ct_f = CT_REAL(fn); \
        if (ct_likely(ct_f) && GIVEN(STRAIGHT_##kind, false)) \
            return ct_f(CT_ARGS(__VA_ARGS__)); \
        return seen_##fn(CT_ARGS(__VA_ARGS__)); \
    }

#define CT_API(fn, kind, ...) WRAP(fn, CU_STREAM_LEGACY, kind, __VA_ARGS__)
#define CT_PTSZ(fn, kind, ...) CT_API(fn, kind, __VA_ARGS__) WRAP(fn##_ptsz, CU_STREAM_PER_THREAD, kind, __VA_ARGS__)
#define CT_PTDS(fn, kind, ...) CT_API(fn, kind, __VA_ARGS__) WRAP(fn##_ptds, CU_STREAM_PER_THREAD, kind, __VA_ARGS__)
#include "cuda/driver_api.def"
#define CT_API(fn, kind, ...) FULL(fn, CU_STREAM_LEGACY, kind, __VA_ARGS__)
#define CT_PTSZ(fn, kind, ...) CT_API(fn, kind, __VA_ARGS__) FULL(fn##_ptsz, CU_STREAM_PER_THREAD, kind, __VA_ARGS__)
#include "cuda/handed_api.def"

const ct_function ct_driver_wrappers[CT_DRIVER_COUNT] = {
#define CT_API(fn, ...) (ct_function)fn,
#define CT_PTSZ(fn, ...) (ct_function)fn, (ct_function)fn##_ptsz,
#define CT_PTDS(fn, ...) (ct_function)fn, (ct_function)fn##_ptds,
#include "cuda/driver_api.def"
#define CT_API(fn, ...) (ct_function)full_##fn,
#define CT_PTSZ(fn, ...) (ct_function)full_##fn, (ct_function)full_##fn##_ptsz,
#include "cuda/handed_api.def"
};
/* clang-format on */
