/* SPDX-License-Identifier: MIT */
/*
 * Expands, for every function of the driver's interface,
 *   ROW(name, parameter types...)                      one exported symbol
 *   ROW_TWIN(suffix, name, parameter types...)         the symbol and its twin name<suffix>
 * The includer defines both; they are undefined here. May be included more than once.
 */
#define CT_API(fn, kind, ...) ROW(fn __VA_OPT__(, ) __VA_ARGS__)
#define CT_PTSZ(fn, kind, ...) ROW_TWIN(_ptsz, fn __VA_OPT__(, ) __VA_ARGS__)
#define CT_PTDS(fn, kind, ...) ROW_TWIN(_ptds, fn __VA_OPT__(, ) __VA_ARGS__)
#include "cuda/driver_api.def"
#define CT_API(fn, kind, ...) ROW(fn __VA_OPT__(, ) __VA_ARGS__)
#define CT_PTSZ(fn, kind, ...) ROW_TWIN(_ptsz, fn __VA_OPT__(, ) __VA_ARGS__)
#define CT_PTDS(fn, kind, ...) ROW_TWIN(_ptds, fn __VA_OPT__(, ) __VA_ARGS__)
#include "common/extra.def"
#undef ROW
#undef ROW_TWIN
