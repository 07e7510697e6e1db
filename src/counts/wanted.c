/* SPDX-License-Identifier: MIT */
#include "counts/wanted.h"

#include "base/config.h"
#include "base/text.h"
#include "state/context.h"

/* The last pattern that fits decides; a list of exclusions only starts from "all". */
static bool is_wanted_kernel(const char *name)
{
    const char *p = ct_config.kernels;
    if (!p)
        return true;
    bool wanted = *p == '!';
    while (*p) {
        bool exclude = *p == '!';
        const char *pattern = p + exclude;
        const char *end = pattern;
        while (*end && *end != ',')
            end++;
        if (ct_glob(pattern, (size_t)(end - pattern), name))
            wanted = !exclude;
        p = *end ? end + 1 : end;
    }
    return wanted;
}

static bool is_wanted_device(uint32_t device)
{
    const char *p = ct_config.devices;
    uint64_t wanted;
    while (p && ct_list_next(&p, &wanted))
        if (wanted == (uint64_t)ct_device(device)->handle)
            return true;
    return !p;
}

bool ct_is_wanted(uint32_t device, const char *kernel)
{
    return !ct_config.without_gpu && is_wanted_device(device) &&
           (!kernel || is_wanted_kernel(kernel));
}

bool ct_is_all_wanted(void)
{
    return !ct_config.without_gpu && !ct_config.devices && !ct_config.kernels;
}
