/* SPDX-License-Identifier: MIT */
#include "counts/filter.h"

#include <stdatomic.h>

#include "base/config.h"
#include "base/pattern.h"
#include "base/plain_name.h"
#include "state/context.h"
#include "system/log.h"

#define SPELLED_BYTES 2048
#define MOST_PATTERNS 64 /* that are told apart when one has matched nothing */

static CT_PROCESS _Atomic uint64_t matched; /* of the list's patterns, the first at bit 0 */
static CT_PROCESS _Atomic uint32_t names;   /* that were looked at */

/* Behind the pattern at p. */
static const char *pattern_end(const char *p)
{
    while (*p && *p != ',')
        p++;
    return p;
}

static uint64_t bit_of(unsigned at)
{
    return at < MOST_PATTERNS ? (uint64_t)1 << at : 0;
}

/* The last pattern that fits decides; a list of exclusions only starts from "all". */
static bool is_wanted_kernel(const char *name)
{
    char room[SPELLED_BYTES];
    struct ct_text spelled = ct_text_in(room, sizeof(room));
    const char *p = ct_config.kernels;
    if (!p)
        return true;
    bool wanted = *p == '!';
    ct_plain_name(&spelled, name);
    atomic_fetch_add_explicit(&names, 1, memory_order_relaxed);
    for (unsigned at = 0; *p; at++) {
        bool exclude = *p == '!';
        const char *pattern = p + exclude, *end = pattern_end(pattern);
        if (ct_pattern_matches(pattern, (size_t)(end - pattern), name, spelled.data)) {
            atomic_fetch_or_explicit(&matched, bit_of(at), memory_order_relaxed);
            wanted = !exclude;
        }
        p = *end ? end + 1 : end;
    }
    return wanted;
}

static void say_unmatched(const char *pattern, size_t len, uint32_t count)
{
    char text[256], number[24];
    struct ct_text t = ct_text_in(text, sizeof(text)), n = ct_text_in(number, sizeof(number));
    for (size_t i = 0; i < len; i++)
        ct_text_add_char(&t, pattern[i]);
    ct_text_add(&t, "' is in the name of none of ");
    ct_text_add_u64(&n, count);
    ct_text_add(&t, number);
    ct_log(1, "CUTRACE_KERNELS: '", text, count == 1 ? " kernel" : " kernels");
}

void ct_filter_end(void)
{
    const char *p = ct_config.kernels;
    uint32_t count = atomic_load_explicit(&names, memory_order_relaxed);
    uint64_t found = atomic_load_explicit(&matched, memory_order_relaxed);
    for (unsigned at = 0; p && *p && count && at < MOST_PATTERNS; at++) {
        const char *end = pattern_end(p);
        if (!(found & bit_of(at)))
            say_unmatched(p, (size_t)(end - p), count);
        p = *end ? end + 1 : end;
    }
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

bool ct_filter_takes(uint32_t device, const char *kernel)
{
    return !ct_config.without_gpu && is_wanted_device(device) &&
           (!kernel || is_wanted_kernel(kernel));
}

bool ct_filter_takes_all(void)
{
    return !ct_config.without_gpu && !ct_config.devices && !ct_config.kernels;
}
