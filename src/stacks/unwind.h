/* SPDX-License-Identifier: MIT */
/*
 * From a frame of native code to the one that called it, by a rule in one word: so rules can be
 * kept in a table without a lock. Memory is read within the bounds of the thread's stack alone.
 */
#ifndef CT_UNWIND_H
#define CT_UNWIND_H

#include "base/base.h"

/* How the canonical frame address (CFA), the stack pointer of the caller, is found. */
enum ct_unwind_kind {
    CT_UNWIND_BAD,   /* not to be found: the stack is refused */
    CT_UNWIND_END,   /* nothing called this one */
    CT_UNWIND_SP,    /* stack pointer + cfa */
    CT_UNWIND_FP,    /* frame pointer + cfa */
    CT_UNWIND_AT_SP, /* the word at stack pointer + cfa */
    CT_UNWIND_AT_FP, /* the word at frame pointer + cfa */
    CT_UNWIND_CHAIN, /* code without tables: frame pointers, each before a return address */
};

/* Where the caller's frame pointer is. */
enum ct_unwind_saved {
    CT_UNWIND_SAME,   /* in its register still */
    CT_UNWIND_BY_CFA, /* at CFA + fp */
    CT_UNWIND_BY_SP,  /* at the stack pointer + fp: a signal's frame */
};

/* Bytes; multiples of 8, of at most so many bits when divided by that. */
struct ct_unwind {
    enum ct_unwind_kind kind;
    enum ct_unwind_saved saved;
    bool is_ours;        /* the library's own code, or CUDA's */
    bool is_signal;      /* the caller was interrupted: it made no call */
    bool by_sp;          /* the return address is at the stack pointer + pc, not at CFA + pc */
    bool is_in_register; /* it is in the link register */
    int32_t cfa;
    int32_t pc;
    int32_t fp;
};
#define CT_UNWIND_CFA_BITS 19
#define CT_UNWIND_SLOT_BITS 18

#define CT_UNWIND_OURS ((uint64_t)1 << 3)

static inline bool ct_unwind_fits(int64_t bytes, unsigned bits)
{
    int64_t words = bytes / 8, most = (int64_t)1 << (bits - 1);
    return !(bytes & 7) && words < most && words >= -most;
}

/* CT_UNWIND_BAD where it does not fit. */
static inline uint64_t ct_unwind_pack(const struct ct_unwind *u)
{
    const uint64_t slot = ((uint64_t)1 << CT_UNWIND_SLOT_BITS) - 1;
    if (!ct_unwind_fits(u->cfa, CT_UNWIND_CFA_BITS) ||
        !ct_unwind_fits(u->pc, CT_UNWIND_SLOT_BITS) || !ct_unwind_fits(u->fp, CT_UNWIND_SLOT_BITS))
        return CT_UNWIND_BAD;
    return u->kind | (u->is_ours ? CT_UNWIND_OURS : 0) | (uint64_t)u->is_signal << 4 |
           (uint64_t)u->saved << 5 | (uint64_t)u->by_sp << 7 | (uint64_t)u->is_in_register << 8 |
           ((uint64_t)(u->cfa / 8) & (((uint64_t)1 << CT_UNWIND_CFA_BITS) - 1)) << 9 |
           ((uint64_t)(u->pc / 8) & slot) << 28 | ((uint64_t)(u->fp / 8) & slot) << 46;
}

static inline int64_t ct_unwind_bytes(uint64_t rule, unsigned at, unsigned bits)
{
    return ((int64_t)(rule << (64 - at - bits)) >> (64 - bits)) * 8;
}

static inline struct ct_unwind ct_unwind_unpack(uint64_t rule)
{
    return (struct ct_unwind){
        .kind = (enum ct_unwind_kind)(rule & 7),
        .is_ours = rule & CT_UNWIND_OURS,
        .is_signal = rule >> 4 & 1,
        .saved = (enum ct_unwind_saved)(rule >> 5 & 3),
        .by_sp = rule >> 7 & 1,
        .is_in_register = rule >> 8 & 1,
        .cfa = (int32_t)ct_unwind_bytes(rule, 9, CT_UNWIND_CFA_BITS),
        .pc = (int32_t)ct_unwind_bytes(rule, 28, CT_UNWIND_SLOT_BITS),
        .fp = (int32_t)ct_unwind_bytes(rule, 46, CT_UNWIND_SLOT_BITS),
    };
}

/* A frame's registers. */
struct ct_native_frame {
    uintptr_t pc;
    uintptr_t sp;
    uintptr_t fp;
    uintptr_t lr;   /* aarch64's link register, while it is known; 0: it is not */
    bool is_exact;  /* pc is the instruction that runs, not the one behind a call */
    bool has_ended; /* it is the outermost */
};

/* An address inside the call, or of the instruction itself. */
static inline uintptr_t ct_native_at(const struct ct_native_frame *f)
{
    return f->pc - !f->is_exact;
}

/* Words of a stack that may be read, from the lowest address to one past the last. */
struct ct_stack_bounds {
    uintptr_t low;
    uintptr_t high;
};

CT_BARE static inline bool ct_unwind_read(const struct ct_stack_bounds *b, uintptr_t at,
                                          uintptr_t *word)
{
    if (ct_unlikely(at & 7 || at < b->low || at >= b->high || b->high - at < sizeof(*word)))
        return false;
    *word = *(const uintptr_t *)at;
    return true;
}

/* A return address may be signed by the processor. */
static inline uintptr_t ct_unwind_strip(uintptr_t pc)
{
#if defined(__aarch64__)
    register uintptr_t x30 __asm__("x30") = pc;
    __asm__("hint #7" : "+r"(x30));
    return x30;
#else
    return pc;
#endif
}

CT_BARE static inline bool ct_unwind_chain(struct ct_native_frame *f,
                                           const struct ct_stack_bounds *b)
{
    uintptr_t fp, pc, at = f->fp;
    if (!at) {
        f->has_ended = true;
        return true;
    }
    if (at < f->sp || !ct_unwind_read(b, at, &fp) || !ct_unwind_read(b, at + 8, &pc))
        return false;
    f->sp = at + 16;
    f->fp = fp;
    f->pc = ct_unwind_strip(pc);
    f->is_exact = false;
    f->has_ended = !f->pc;
    return true;
}

/* To the caller; false: the frame is garbled. The stack pointer rises with each step. */
CT_BARE static inline bool ct_unwind_step(uint64_t rule, struct ct_native_frame *f,
                                          const struct ct_stack_bounds *b)
{
    const struct ct_unwind u = ct_unwind_unpack(rule);
    if (ct_unlikely(u.kind <= CT_UNWIND_END)) {
        f->has_ended = true;
        return u.kind == CT_UNWIND_END;
    }
    if (ct_unlikely(u.kind == CT_UNWIND_CHAIN))
        return ct_unwind_chain(f, b);
    bool is_by_fp = u.kind == CT_UNWIND_FP || u.kind == CT_UNWIND_AT_FP;
    uintptr_t cfa = (is_by_fp ? f->fp : f->sp) + (uintptr_t)(intptr_t)u.cfa, pc = f->lr;
    if (ct_unlikely(u.kind == CT_UNWIND_AT_SP || u.kind == CT_UNWIND_AT_FP) &&
        !ct_unwind_read(b, cfa, &cfa))
        return false;
    if (ct_unlikely(cfa > b->high || cfa < f->sp || (cfa == f->sp && !u.is_in_register)))
        return false;
    if (ct_unlikely(u.is_in_register) && !f->lr)
        return false;
    if (!u.is_in_register &&
        !ct_unwind_read(b, (u.by_sp ? f->sp : cfa) + (uintptr_t)(intptr_t)u.pc, &pc))
        return false;
    if (u.saved &&
        !ct_unwind_read(b, (u.saved == CT_UNWIND_BY_SP ? f->sp : cfa) + (uintptr_t)(intptr_t)u.fp,
                        &f->fp))
        return false;
    f->sp = cfa;
    f->lr = 0;
    f->pc = ct_unwind_strip(pc);
    f->is_exact = u.is_signal;
    f->has_ended = !f->pc;
    return true;
}

#endif
