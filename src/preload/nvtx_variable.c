/* SPDX-License-Identifier: MIT */
/*
 * NVTX_INJECTION64_PATH, which names the library that NVTX loads, is made to name this one when it
 * is preloaded; CUTRACE_NVTX_NEXT then has the name before.
 *
 * A process that inherits the variable and is not profiled gets the library named before.
 */
#include "preload/nvtx.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/text.h"
#include "service/own_library.h"
#include "system/mem.h"

#define PATH_VARIABLE "NVTX_INJECTION64_PATH="
#define NEXT_VARIABLE CT_NVTX_NEXT "="

static char path_entry[sizeof(PATH_VARIABLE) + 2 * PATH_MAX] = PATH_VARIABLE;
static char next_entry[sizeof(NEXT_VARIABLE) + PATH_MAX] = NEXT_VARIABLE;

/* An environment of ours, without variables replaced, as setenv() takes memory from the heap. */
static bool replace_environment(void)
{
    size_t n = 0, kept = 0;
    while (environ && environ[n])
        n++;
    char **made = ct_map((n + 3) * sizeof(*made));
    if (!made)
        return false;
    for (size_t i = 0; i < n; i++)
        if (!ct_starts_with(environ[i], PATH_VARIABLE) &&
            !ct_starts_with(environ[i], NEXT_VARIABLE))
            made[kept++] = environ[i];
    made[kept++] = path_entry;
    if (next_entry[sizeof(NEXT_VARIABLE) - 1])
        made[kept++] = next_entry;
    environ = made;
    return true;
}

/* A variable that names us is a parent's, whose next injection stays. */
__attribute__((constructor)) static void offer(void)
{
#ifdef CT_NOP
    return;
#endif
    struct ct_text path = ct_text_in(path_entry + sizeof(PATH_VARIABLE) - 1, 2 * PATH_MAX);
    struct ct_text next = ct_text_in(next_entry + sizeof(NEXT_VARIABLE) - 1, PATH_MAX);
    const char *before = getenv("NVTX_INJECTION64_PATH");
    if (getauxval(AT_SECURE) || !ct_own_library_is_preloaded() || !ct_own_library_path())
        return;
    ct_text_add(&path, ct_own_library_path());
    if (before && ct_streq(before, path_entry + sizeof(PATH_VARIABLE) - 1))
        return;
    if (before)
        ct_text_add(&next, before);
    if (!ct_text_full(&next))
        replace_environment();
}
