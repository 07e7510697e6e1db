/* SPDX-License-Identifier: MIT */
#include "launch/selftimed.h"

/*
 * The oldest target that today's compilers still take: any later device will do. The kernel spins
 * by the cycle counter, not until %globaltimer has moved on: the end would then always come right
 * after a step of that timer, and a coarse one would be off by half a step on average. The stamps
 * stay on the device until all kernels are through: a write to host memory would lengthen each of
 * them.
 *
 * The front end sees a kernel end when its last write has arrived, which is up to 0.2 us later for
 * one 4 KiB of memory than for the next, by where these lie. Kernels of programs write to many and
 * wait for the farthest. So does this one: each thread writes the stamps to a place of its own.
 */
/* clang-format off */
const char ct_selftimed_ptx[] =
    ".version 6.0\n"
    ".target sm_50\n"
    ".address_size 64\n"
    "\n"
    ".global .align 16 .b64 stamps[16384];\n"
    "\n"
    ".visible .entry cutrace_selftimed(.param .u64 ticks, .param .u64 slot)\n"
    "{\n"
    "    .reg .pred %again;\n"
    "    .reg .u32 %first, %now, %spent, %limit, %thread;\n"
    "    .reg .u64 %begin, %end, %ticks, %slot, %to;\n"
    "    mov.u64 %begin, %globaltimer;\n"
    "    mov.u32 %first, %clock;\n"
    "    ld.param.u64 %ticks, [ticks];\n"
    "    ld.param.u64 %slot, [slot];\n"
    "    cvt.u32.u64 %limit, %ticks;\n"
    "    mov.u64 %to, stamps;\n"
    "    mad.lo.u64 %to, %slot, 16, %to;\n"
    "    mov.u32 %thread, %tid.x;\n"
    "    mad.wide.u32 %to, %thread, 4096, %to;\n"
    "spin:\n"
    "    mov.u32 %now, %clock;\n"
    "    sub.u32 %spent, %now, %first;\n"
    "    setp.lt.u32 %again, %spent, %limit;\n"
    "    @%again bra spin;\n"
    "    mov.u64 %end, %globaltimer;\n"
    "    st.global.v2.u64 [%to], {%begin, %end};\n"
    "    ret;\n"
    "}\n"
    "\n"
    ".visible .entry cutrace_selftimed_read(.param .u64 target, .param .u64 slots)\n"
    "{\n"
    "    .reg .pred %more;\n"
    "    .reg .u64 %to, %from, %left, %begin, %end;\n"
    "    ld.param.u64 %to, [target];\n"
    "    ld.param.u64 %left, [slots];\n"
    "    mov.u64 %from, stamps;\n"
    "    st.global.u64 [%to], %from;\n"
    "next:\n"
    "    ld.global.v2.u64 {%begin, %end}, [%from];\n"
    "    st.global.u64 [%to+8], %begin;\n"
    "    st.global.u64 [%to+16], %end;\n"
    "    add.u64 %from, %from, 16;\n"
    "    add.u64 %to, %to, 16;\n"
    "    sub.u64 %left, %left, 1;\n"
    "    setp.ne.u64 %more, %left, 0;\n"
    "    @%more bra next;\n"
    "    ret;\n"
    "}\n";
/* clang-format on */
