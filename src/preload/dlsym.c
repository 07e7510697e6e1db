/* SPDX-License-Identifier: MIT */
/*
 * dlsym and dlvsym. Sanitizers and malloc replacements call dlsym before anything is initialised,
 * and glibc looks at the return address to know the caller: so the entries are assembly, leave by a
 * jump with stack and registers as they were, and do nothing but compare bytes until a name of
 * CUDA's has turned up. This file is compiled without sanitizers and stack protector.
 */
#include <dlfcn.h>

#include "preload/lookup.h"
#include "preload/real_dlsym.h"
#include "system/elf.h"
#include "system/library_copies.h"

__attribute__((visibility("hidden"))) ct_dlsym_fn ct_real_dlsym;
__attribute__((visibility("hidden"))) ct_dlvsym_fn ct_real_dlvsym;

__attribute__((visibility("hidden"))) struct ct_answer
ct_dlsym_answer(void *handle, const char *name, void *caller);
__attribute__((visibility("hidden"))) struct ct_answer
ct_dlvsym_answer(void *handle, const char *name, const char *version, void *caller);

/* The answer comes in two registers; the second one zero means: jump to the real function. */
#if defined(__x86_64__)
#define ENTRY(name, third_push, third_pop, caller_register)                                        \
    __asm__(".text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n"                    \
            "    endbr64\n"                                                                        \
            "    movq (%rsp), " caller_register "\n"                                               \
            "    pushq %rdi\n    pushq %rsi\n    " third_push "\n"                                 \
            "    call ct_" #name "_answer\n"                                                       \
            "    " third_pop "\n    popq %rsi\n    popq %rdi\n"                                    \
            "    testq %r11, %r11\n    je 1f\n    ret\n"                                           \
            "1:  jmp *ct_real_" #name "(%rip)\n"                                                   \
            ".size " #name ", .-" #name "\n")
ENTRY(dlsym, "subq $8, %rsp", "addq $8, %rsp\n    movq %rdx, %r11", "%rdx");
ENTRY(dlvsym, "pushq %rdx", "movq %rdx, %r11\n    popq %rdx", "%rcx");
#elif defined(__aarch64__)
/* Under BTI only x16 and x17 may branch to the start of a function. */
#define ENTRY(name, caller_register)                                                               \
    __asm__(".text\n.globl " #name "\n.type " #name ", %function\n" #name ":\n"                    \
            "    hint #34\n"                                                                       \
            "    stp x29, x30, [sp, #-48]!\n    mov x29, sp\n"                                     \
            "    stp x0, x1, [sp, #16]\n    str x2, [sp, #32]\n"                                   \
            "    mov " caller_register ", x30\n"                                                   \
            "    bl ct_" #name "_answer\n"                                                         \
            "    cbz x1, 1f\n"                                                                     \
            "    ldp x29, x30, [sp], #48\n    ret\n"                                               \
            "1:  ldp x0, x1, [sp, #16]\n    ldr x2, [sp, #32]\n"                                   \
            "    ldp x29, x30, [sp], #48\n"                                                        \
            "    adrp x16, ct_real_" #name "\n    ldr x16, [x16, :lo12:ct_real_" #name "]\n"       \
            "    br x16\n"                                                                         \
            ".size " #name ", .-" #name "\n")
ENTRY(dlsym, "x2");
ENTRY(dlvsym, "x3");
#endif

static const struct ct_answer jump = {NULL, 0};

static bool is_vendor_name(const char *n)
{
    if (n[0] == 'n' && n[1] == 'c' && n[2] == 'c' && n[3] == 'l')
        return true;
    if (n[0] == '_' && n[1] == '_')
        n += 2;
    if (n[0] != 'c' || n[1] != 'u')
        return false;
    return (n[2] >= 'A' && n[2] <= 'Z') ||
           (n[2] == 'd' && n[3] == 'a' && n[4] >= 'A' && n[4] <= 'Z');
}

/*
 * glibc's dlsym knows the objects behind us; dlvsym would skip other interposers. A copy of this
 * library is no interposer.
 */
void ct_real_dlsym_find(void)
{
    ct_dlsym_fn own = (ct_dlsym_fn)(uintptr_t)ct_libc_symbol("dlsym");
    void *next = ct_behind_copies("dlsym", own(RTLD_NEXT, "dlsym"));
    void *next_v = ct_behind_copies("dlvsym", own(RTLD_NEXT, "dlvsym"));
    __atomic_store_n(&ct_real_dlvsym, (ct_dlvsym_fn)(uintptr_t)next_v, __ATOMIC_RELEASE);
    __atomic_store_n(&ct_real_dlsym, next ? (ct_dlsym_fn)(uintptr_t)next : own, __ATOMIC_RELEASE);
}

struct ct_answer ct_dlsym_answer(void *handle, const char *name, void *caller)
{
    if (ct_unlikely(!__atomic_load_n(&ct_real_dlsym, __ATOMIC_ACQUIRE)))
        ct_real_dlsym_find();
    return is_vendor_name(name) && !ct_stands_aside() ? ct_lookup(handle, name, NULL, caller)
                                                      : jump;
}

struct ct_answer ct_dlvsym_answer(void *handle, const char *name, const char *version, void *caller)
{
    if (ct_unlikely(!__atomic_load_n(&ct_real_dlsym, __ATOMIC_ACQUIRE)))
        ct_real_dlsym_find();
    return is_vendor_name(name) && !ct_stands_aside() ? ct_lookup(handle, name, version, caller)
                                                      : jump;
}

void *ct_real_dlsym_next(const char *name)
{
    if (!__atomic_load_n(&ct_real_dlsym, __ATOMIC_ACQUIRE))
        ct_real_dlsym_find();
    void *p = ct_real_dlsym(RTLD_NEXT, name);
    if (!p)
        dlerror();
    return ct_behind_copies(name, p);
}
