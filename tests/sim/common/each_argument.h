/* SPDX-License-Identifier: MIT */
/* EACH(M, t1, t2...) -> M(1, t1) M(2, t2)... for the types of an API row. */
#ifndef SIM_EACH_ARGUMENT_H
#define SIM_EACH_ARGUMENT_H

#include "cuda/args.h"

/* clang-format off */
#define EACH(M, ...) CT_CAT(EACH_, CT_COUNT(__VA_ARGS__))(M __VA_OPT__(,) __VA_ARGS__)
#define EACH_0(M)
#define EACH_1(M, t1) M(1, t1)
#define EACH_2(M, t1, t2) M(1, t1) M(2, t2)
#define EACH_3(M, t1, t2, t3) M(1, t1) M(2, t2) M(3, t3)
#define EACH_4(M, t1, t2, t3, t4) M(1, t1) M(2, t2) M(3, t3) M(4, t4)
#define EACH_5(M, t1, t2, t3, t4, t5) M(1, t1) M(2, t2) M(3, t3) M(4, t4) M(5, t5)
#define EACH_6(M, t1, t2, t3, t4, t5, t6) M(1, t1) M(2, t2) M(3, t3) M(4, t4) M(5, t5) M(6, t6)
#define EACH_7(M, t1, t2, t3, t4, t5, t6, t7) M(1, t1) M(2, t2) M(3, t3) M(4, t4) M(5, t5) M(6, t6) M(7, t7)
#define EACH_8(M, t1, t2, t3, t4, t5, t6, t7, t8) M(1, t1) M(2, t2) M(3, t3) M(4, t4) M(5, t5) M(6, t6) M(7, t7) M(8, t8)
#define EACH_9(M, t1, t2, t3, t4, t5, t6, t7, t8, t9) M(1, t1) M(2, t2) M(3, t3) M(4, t4) M(5, t5) M(6, t6) M(7, t7) M(8, t8) M(9, t9)
#define EACH_10(M, t1, t2, t3, t4, t5, t6, t7, t8, t9, t10) M(1, t1) M(2, t2) M(3, t3) M(4, t4) M(5, t5) M(6, t6) M(7, t7) M(8, t8) M(9, t9) M(10, t10)
#define EACH_11(M, t1, t2, t3, t4, t5, t6, t7, t8, t9, t10, t11) M(1, t1) M(2, t2) M(3, t3) M(4, t4) M(5, t5) M(6, t6) M(7, t7) M(8, t8) M(9, t9) M(10, t10) M(11, t11)
#define EACH_12(M, t1, t2, t3, t4, t5, t6, t7, t8, t9, t10, t11, t12) M(1, t1) M(2, t2) M(3, t3) M(4, t4) M(5, t5) M(6, t6) M(7, t7) M(8, t8) M(9, t9) M(10, t10) M(11, t11) M(12, t12)
#define EACH_13(M, t1, t2, t3, t4, t5, t6, t7, t8, t9, t10, t11, t12, t13) M(1, t1) M(2, t2) M(3, t3) M(4, t4) M(5, t5) M(6, t6) M(7, t7) M(8, t8) M(9, t9) M(10, t10) M(11, t11) M(12, t12) M(13, t13)
#define EACH_14(M, t1, t2, t3, t4, t5, t6, t7, t8, t9, t10, t11, t12, t13, t14) M(1, t1) M(2, t2) M(3, t3) M(4, t4) M(5, t5) M(6, t6) M(7, t7) M(8, t8) M(9, t9) M(10, t10) M(11, t11) M(12, t12) M(13, t13) M(14, t14)
#define EACH_15(M, t1, t2, t3, t4, t5, t6, t7, t8, t9, t10, t11, t12, t13, t14, t15) M(1, t1) M(2, t2) M(3, t3) M(4, t4) M(5, t5) M(6, t6) M(7, t7) M(8, t8) M(9, t9) M(10, t10) M(11, t11) M(12, t12) M(13, t13) M(14, t14) M(15, t15)
#define EACH_16(M, t1, t2, t3, t4, t5, t6, t7, t8, t9, t10, t11, t12, t13, t14, t15, t16) M(1, t1) M(2, t2) M(3, t3) M(4, t4) M(5, t5) M(6, t6) M(7, t7) M(8, t8) M(9, t9) M(10, t10) M(11, t11) M(12, t12) M(13, t13) M(14, t14) M(15, t15) M(16, t16)
#define EACH_17(M, t1, t2, t3, t4, t5, t6, t7, t8, t9, t10, t11, t12, t13, t14, t15, t16, t17) M(1, t1) M(2, t2) M(3, t3) M(4, t4) M(5, t5) M(6, t6) M(7, t7) M(8, t8) M(9, t9) M(10, t10) M(11, t11) M(12, t12) M(13, t13) M(14, t14) M(15, t15) M(16, t16) M(17, t17)
/* clang-format on */

#endif
