/* SPDX-License-Identifier: MIT */
/* What -fsanitize=thread makes of the accesses of a program, with gcc and with clang. */
#include <string.h>

#include "engine.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

/* clang-format off */
void __tsan_init(void) {}
void __tsan_func_entry(void *caller) { (void)caller; }
void __tsan_func_exit(void) {}
void __tsan_atomic_signal_fence(int order) { (void)order; } /* between threads it is nothing */

#define PLAIN(bytes) \
    void __tsan_read##bytes(void *p) { races_access(p, bytes, false); } \
    void __tsan_write##bytes(void *p) { races_access(p, bytes, true); } \
    void __tsan_unaligned_read##bytes(void *p) { races_access(p, bytes, false); } \
    void __tsan_unaligned_write##bytes(void *p) { races_access(p, bytes, true); }
PLAIN(1) PLAIN(2) PLAIN(4) PLAIN(8) PLAIN(16)
void __tsan_read_range(void *p, size_t bytes) { races_access(p, bytes, false); }
void __tsan_write_range(void *p, size_t bytes) { races_access(p, bytes, true); }

void *__tsan_memcpy(void *to, const void *from, size_t bytes)
{
    races_access(from, bytes, false);
    races_access(to, bytes, true);
    return memcpy(to, from, bytes);
}

void *__tsan_memset(void *to, int value, size_t bytes)
{
    races_access(to, bytes, true);
    return memset(to, value, bytes);
}

#define CHANGES(bits, type, name, KIND) \
    type __tsan_atomic##bits##_##name(volatile type *p, type value, int order) \
    { \
        struct access a = {.kind = KIND, .address = (void *)(uintptr_t)p, .bytes = bits / 8, \
                           .order = order, .operand = value}; \
        return (type)memory_access(&a); \
    }
#define COMPARES(bits, type, name) \
    int __tsan_atomic##bits##_compare_exchange_##name(volatile type *p, type *expected, type value, \
                                                      int order, int failure_order) \
    { \
        struct access a = {.kind = COMPARE, .address = (void *)(uintptr_t)p, .bytes = bits / 8, \
                           .order = order, .failure_order = failure_order, .operand = value, \
                           .expected = *expected}; \
        memory_access(&a); \
        *expected = (type)a.expected; \
        return a.swapped; \
    }
#define ATOMIC(bits, type) \
    type __tsan_atomic##bits##_load(const volatile type *p, int order) \
    { \
        struct access a = {.kind = LOAD, .address = (void *)(uintptr_t)p, .bytes = bits / 8, \
                           .order = order}; \
        return (type)memory_access(&a); \
    } \
    void __tsan_atomic##bits##_store(volatile type *p, type value, int order) \
    { \
        struct access a = {.kind = STORE, .address = (void *)(uintptr_t)p, .bytes = bits / 8, \
                           .order = order, .operand = value}; \
        memory_access(&a); \
    } \
    CHANGES(bits, type, exchange, EXCHANGE) \
    CHANGES(bits, type, fetch_add, ADD) \
    CHANGES(bits, type, fetch_sub, SUBTRACT) \
    CHANGES(bits, type, fetch_and, AND) \
    CHANGES(bits, type, fetch_or, OR) \
    CHANGES(bits, type, fetch_xor, XOR) \
    COMPARES(bits, type, strong) \
    COMPARES(bits, type, weak) \
    type __tsan_atomic##bits##_compare_exchange_val(volatile type *p, type expected, type value, \
                                                    int order, int failure_order) \
    { \
        __tsan_atomic##bits##_compare_exchange_strong(p, &expected, value, order, failure_order); \
        return expected; \
    }
ATOMIC(8, uint8_t)
ATOMIC(16, uint16_t)
ATOMIC(32, uint32_t)
ATOMIC(64, uint64_t)
/* clang-format on */

void model_writes(void *what)
{
    races_access(what, 1, true);
}
