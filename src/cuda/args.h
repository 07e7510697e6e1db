/* SPDX-License-Identifier: MIT */
/*
 * Turns the parameter types of an API row into parameters and arguments, named by position:
 *   CT_PARAMS(int, void *) -> int a1, void *a2        CT_PARAMS() -> void
 *   CT_ARGS(int, void *)   -> a1, a2                  CT_ARGS()   ->
 * and a number of machine words likewise:
 *   CT_WORDS(2) -> uint64_t a1, uint64_t a2           CT_WORD_ARGS(2) -> a1, a2
 */
#ifndef CT_ARGS_H
#define CT_ARGS_H

/* clang-format off */
#define CT_CAT_(a, b) a##b
#define CT_CAT(a, b) CT_CAT_(a, b)
#define CT_NTH_(_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, n, ...) n
#define CT_COUNT(...) CT_NTH_(0 __VA_OPT__(,) __VA_ARGS__, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)

#define CT_PARAMS(...) CT_CAT(CT_P, CT_COUNT(__VA_ARGS__))(__VA_ARGS__)
#define CT_ARGS(...) CT_CAT(CT_A, CT_COUNT(__VA_ARGS__))
#define CT_WORDS(n) CT_CAT(CT_W, n)
#define CT_WORD_ARGS(n) CT_CAT(CT_A, n)

#define CT_A0
#define CT_A1 a1
#define CT_A2 a1, a2
#define CT_A3 a1, a2, a3
#define CT_A4 a1, a2, a3, a4
#define CT_A5 a1, a2, a3, a4, a5
#define CT_A6 a1, a2, a3, a4, a5, a6
#define CT_A7 a1, a2, a3, a4, a5, a6, a7
#define CT_A8 a1, a2, a3, a4, a5, a6, a7, a8
#define CT_A9 a1, a2, a3, a4, a5, a6, a7, a8, a9
#define CT_A10 a1, a2, a3, a4, a5, a6, a7, a8, a9, a10
#define CT_A11 a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11
#define CT_A12 a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12
#define CT_A13 a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13
#define CT_A14 a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14
#define CT_A15 a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15
#define CT_A16 a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16
#define CT_A17 a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17

#define CT_P0() void
#define CT_P1(t1) t1 a1
#define CT_P2(t1, t2) t1 a1, t2 a2
#define CT_P3(t1, t2, t3) t1 a1, t2 a2, t3 a3
#define CT_P4(t1, t2, t3, t4) t1 a1, t2 a2, t3 a3, t4 a4
#define CT_P5(t1, t2, t3, t4, t5) t1 a1, t2 a2, t3 a3, t4 a4, t5 a5
#define CT_P6(t1, t2, t3, t4, t5, t6) t1 a1, t2 a2, t3 a3, t4 a4, t5 a5, t6 a6
#define CT_P7(t1, t2, t3, t4, t5, t6, t7) t1 a1, t2 a2, t3 a3, t4 a4, t5 a5, t6 a6, t7 a7
#define CT_P8(t1, t2, t3, t4, t5, t6, t7, t8) t1 a1, t2 a2, t3 a3, t4 a4, t5 a5, t6 a6, t7 a7, t8 a8
#define CT_P9(t1, t2, t3, t4, t5, t6, t7, t8, t9) t1 a1, t2 a2, t3 a3, t4 a4, t5 a5, t6 a6, t7 a7, t8 a8, t9 a9
#define CT_P10(t1, t2, t3, t4, t5, t6, t7, t8, t9, t10) t1 a1, t2 a2, t3 a3, t4 a4, t5 a5, t6 a6, t7 a7, t8 a8, t9 a9, t10 a10
#define CT_P11(t1, t2, t3, t4, t5, t6, t7, t8, t9, t10, t11) t1 a1, t2 a2, t3 a3, t4 a4, t5 a5, t6 a6, t7 a7, t8 a8, t9 a9, t10 a10, t11 a11
#define CT_P12(t1, t2, t3, t4, t5, t6, t7, t8, t9, t10, t11, t12) t1 a1, t2 a2, t3 a3, t4 a4, t5 a5, t6 a6, t7 a7, t8 a8, t9 a9, t10 a10, t11 a11, t12 a12
#define CT_P13(t1, t2, t3, t4, t5, t6, t7, t8, t9, t10, t11, t12, t13) t1 a1, t2 a2, t3 a3, t4 a4, t5 a5, t6 a6, t7 a7, t8 a8, t9 a9, t10 a10, t11 a11, t12 a12, t13 a13
#define CT_P14(t1, t2, t3, t4, t5, t6, t7, t8, t9, t10, t11, t12, t13, t14) t1 a1, t2 a2, t3 a3, t4 a4, t5 a5, t6 a6, t7 a7, t8 a8, t9 a9, t10 a10, t11 a11, t12 a12, t13 a13, t14 a14
#define CT_P15(t1, t2, t3, t4, t5, t6, t7, t8, t9, t10, t11, t12, t13, t14, t15) t1 a1, t2 a2, t3 a3, t4 a4, t5 a5, t6 a6, t7 a7, t8 a8, t9 a9, t10 a10, t11 a11, t12 a12, t13 a13, t14 a14, t15 a15
#define CT_P16(t1, t2, t3, t4, t5, t6, t7, t8, t9, t10, t11, t12, t13, t14, t15, t16) t1 a1, t2 a2, t3 a3, t4 a4, t5 a5, t6 a6, t7 a7, t8 a8, t9 a9, t10 a10, t11 a11, t12 a12, t13 a13, t14 a14, t15 a15, t16 a16
#define CT_P17(t1, t2, t3, t4, t5, t6, t7, t8, t9, t10, t11, t12, t13, t14, t15, t16, t17) t1 a1, t2 a2, t3 a3, t4 a4, t5 a5, t6 a6, t7 a7, t8 a8, t9 a9, t10 a10, t11 a11, t12 a12, t13 a13, t14 a14, t15 a15, t16 a16, t17 a17

#define CT_W1 uint64_t a1
#define CT_W2 uint64_t a1, uint64_t a2
#define CT_W3 uint64_t a1, uint64_t a2, uint64_t a3
#define CT_W4 uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4
#define CT_W5 uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5
#define CT_W6 uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6
#define CT_W7 uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7
#define CT_W8 uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8
#define CT_W9 uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8, uint64_t a9
/* clang-format on */

#endif
