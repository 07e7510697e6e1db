/* SPDX-License-Identifier: MIT */
#include "preload/runtime.h"

#include "cutrace/format.h"
#include "preload/library.h"
#include "state/note.h"
#include "system/library_copies.h"

static bool is_runtime(const struct ct_object *o)
{
    return ct_object_symbol(o, "cudaRuntimeGetVersion") &&
           ct_object_symbol(o, "__cudaRegisterFatBinary") && ct_object_symbol(o, "cudaGetDevice");
}

static _Atomic(ct_function) real[CT_LIBRARIES * CT_RUNTIME_COUNT];
static struct ct_libraries runtimes = {
    .needed = "libcudart.so",
    .file = "libcudart.so",
    .is_one = is_runtime,
    .names = &ct_api_names[CT_RUNTIME_FIRST],
    .real = real,
    .functions = CT_RUNTIME_COUNT,
};

bool ct_runtime_claim(const void *address)
{
    return ct_library_claim(&runtimes, address);
}

/* The function's work is caught in the driver call inside, but not under its name. */
void ct_runtime_asked(const char *name, const void *address)
{
    struct ct_object o;
    if (ct_object_of(address, &o) && is_runtime(&o) && !ct_is_copy(&o))
        ct_note(CT_NOTE_NOT_WRAPPED, name);
}

void ct_runtime_forget(void)
{
    ct_library_forget(&runtimes);
}

ct_function ct_runtime_real(uint32_t id, const void *caller)
{
    return ct_library_real(&runtimes, id - CT_RUNTIME_FIRST, caller);
}
