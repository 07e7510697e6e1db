/* SPDX-License-Identifier: MIT */
/*
 * For an assembly file: CT_OLD(name, from) defines a function of this object that goes on to the C
 * library's `from` in its oldest version, so that what was built on a new system runs on an old
 * one. A linker takes the newest version otherwise: GLIBC_2.34 of all that moved from libpthread
 * and libdl into libc, which is the same code. The caller's return address stays: dlopen looks at
 * it. CT_SAME(name, other) defines it as another function that is linked in.
 */
#ifndef CT_OLD_GLIBC_H
#define CT_OLD_GLIBC_H

#if defined(__x86_64__)
#define CT_OLD(name, from) ct_old name, from, GLIBC_2.2.5
#define CT_GO_TO(symbol) jmp *symbol@GOTPCREL(%rip)
#define CT_GO jmp
#elif defined(__aarch64__)
#define CT_OLD(name, from) ct_old name, from, GLIBC_2.17
#define CT_GO_TO(symbol) b symbol
#define CT_GO b
#else
#error "the oldest version of the C library for this architecture is not known"
#endif

#define CT_SAME(name, other) ct_same name, other

    .macro ct_begin name
    .globl \name
    .hidden \name
    .type \name, %function
\name:
    .endm

    .macro ct_old name, from, version
    .symver ct_old_\name, \from@\version
    ct_begin \name
    CT_GO_TO(ct_old_\name)
    .size \name, . - \name
    .endm

    .macro ct_same name, other
    ct_begin \name
    CT_GO \other
    .size \name, . - \name
    .endm

    .section .note.GNU-stack, "", %progbits
    .text

#endif
