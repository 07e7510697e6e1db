/* SPDX-License-Identifier: MIT */
/* How NVTX comes to load this library: nvtx_variable.c; and what it then gets: nvtx.c. */
#ifndef CT_NVTX_H
#define CT_NVTX_H

#define CT_NVTX_NEXT "CUTRACE_NVTX_NEXT" /* another injection, which is to get all as well */

#endif
