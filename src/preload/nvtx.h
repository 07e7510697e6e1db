/* SPDX-License-Identifier: MIT */
/* NVTX's way to load this library: nvtx_variable.c; the functions that it then gets: nvtx.c. */
#ifndef CT_NVTX_H
#define CT_NVTX_H

#define CT_NVTX_NEXT "CUTRACE_NVTX_NEXT" /* another injection, which gets all calls as well */

#endif
