/* SPDX-License-Identifier: MIT */
/*
 * C11's atomics as helgrind understands them. By itself it takes them for plain accesses and
 * reports each as a race. Here each tells it what its memory order promises and no more: what came
 * before a release happened before what follows its acquire, a relaxed access orders nothing, and
 * there are no races for the atomic object itself. So a plain field that no order protects is
 * reported; doc/memory-order.md says which order is there for what.
 *
 * A release that was overwritten keeps its effect here, which it need not in C11: tests/model knows
 * the difference. An atomic that is used without these macros is reported like any other variable.
 *
 * For gcc: its built-in functions take _Atomic objects.
 */
#ifndef HELGRIND_STDATOMIC_H
#define HELGRIND_STDATOMIC_H
#pragma GCC system_header

#include_next <stdatomic.h>
#include <valgrind/helgrind.h>

#define HELGRIND_RELEASES(order)                                                                   \
    ((order) == memory_order_release || (order) == memory_order_acq_rel ||                         \
     (order) == memory_order_seq_cst)
#define HELGRIND_ACQUIRES(order)                                                                   \
    ((order) == memory_order_acquire || (order) == memory_order_consume ||                         \
     (order) == memory_order_acq_rel || (order) == memory_order_seq_cst)

/* A plain object of the same type. */
#define HELGRIND_PLAIN(at) __typeof__((void)0, *(at))

#define HELGRIND_BEFORE(at, order)                                                                 \
    VALGRIND_HG_DISABLE_CHECKING(at, sizeof(*(at)));                                               \
    if (HELGRIND_RELEASES(order))                                                                  \
        ANNOTATE_HAPPENS_BEFORE(at);

#define HELGRIND_AFTER(at, order)                                                                  \
    if (HELGRIND_ACQUIRES(order))                                                                  \
        ANNOTATE_HAPPENS_AFTER(at);

#undef atomic_load_explicit
#define atomic_load_explicit(object, order)                                                        \
    ({                                                                                             \
        __auto_type at_ = (object);                                                                \
        HELGRIND_PLAIN(at_) is_;                                                                   \
        VALGRIND_HG_DISABLE_CHECKING(at_, sizeof(*at_));                                           \
        __atomic_load(at_, &is_, order);                                                           \
        HELGRIND_AFTER(at_, order)                                                                 \
        is_;                                                                                       \
    })

#undef atomic_store_explicit
#define atomic_store_explicit(object, value, order)                                                \
    ({                                                                                             \
        __auto_type at_ = (object);                                                                \
        HELGRIND_PLAIN(at_) next_ = (value);                                                       \
        HELGRIND_BEFORE(at_, order)                                                                \
        __atomic_store(at_, &next_, order);                                                        \
    })

/* What was there before a read-modify-write. */
#define HELGRIND_MODIFY(function, object, value, order)                                            \
    ({                                                                                             \
        __auto_type at_ = (object);                                                                \
        HELGRIND_PLAIN(at_) by_ = (value), was_;                                                   \
        HELGRIND_BEFORE(at_, order)                                                                \
        was_ = function(at_, by_, order);                                                          \
        HELGRIND_AFTER(at_, order)                                                                 \
        was_;                                                                                      \
    })

#undef atomic_exchange_explicit
#undef atomic_fetch_add
#undef atomic_fetch_add_explicit
#undef atomic_fetch_sub
#undef atomic_fetch_sub_explicit
#define atomic_exchange_explicit(object, value, order)                                             \
    HELGRIND_MODIFY(__atomic_exchange_n, object, value, order)
#define atomic_fetch_add_explicit(object, value, order)                                            \
    HELGRIND_MODIFY(__atomic_fetch_add, object, value, order)
#define atomic_fetch_sub_explicit(object, value, order)                                            \
    HELGRIND_MODIFY(__atomic_fetch_sub, object, value, order)
#define atomic_fetch_add(object, value)                                                            \
    atomic_fetch_add_explicit(object, value, memory_order_seq_cst)
#define atomic_fetch_sub(object, value)                                                            \
    atomic_fetch_sub_explicit(object, value, memory_order_seq_cst)

/* One that fails is a load. */
#define HELGRIND_COMPARE(object, expected, value, weak, order, failed)                             \
    ({                                                                                             \
        __auto_type at_ = (object);                                                                \
        HELGRIND_PLAIN(at_) next_ = (value);                                                       \
        HELGRIND_BEFORE(at_, order)                                                                \
        _Bool done_ = __atomic_compare_exchange(at_, expected, &next_, weak, order, failed);       \
        if (done_) {                                                                               \
            HELGRIND_AFTER(at_, order)                                                             \
        } else {                                                                                   \
            HELGRIND_AFTER(at_, failed)                                                            \
        }                                                                                          \
        done_;                                                                                     \
    })

#undef atomic_compare_exchange_strong_explicit
#undef atomic_compare_exchange_weak_explicit
#define atomic_compare_exchange_strong_explicit(object, expected, value, order, failed)            \
    HELGRIND_COMPARE(object, expected, value, 0, order, failed)
#define atomic_compare_exchange_weak_explicit(object, expected, value, order, failed)              \
    HELGRIND_COMPARE(object, expected, value, 1, order, failed)

#endif
