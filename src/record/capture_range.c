/* SPDX-License-Identifier: MIT */
#include "record/capture_range.h"

#include "base/config.h"
#include "base/spin.h"
#include "base/text.h"
#include "record/bracket.h"
#include "record/drain.h"

static struct ct_spin lock;
static _Atomic uint64_t open;

/* Up to the @ before the domain, or all of it; "\@" is an @ of the name. */
static bool is_name(const char **pattern, const char *text, size_t bytes)
{
    const char *p = *pattern;
    size_t i = 0;
    bool same = true;
    for (; *p && *p != '@'; p++, i++) {
        p += *p == '\\' && p[1] == '@';
        same = same && i < bytes && text[i] == *p;
    }
    *pattern = p;
    return same && i == bytes;
}

bool ct_capture_is_of(const char *domain, const char *text, size_t bytes)
{
    const char *p = ct_config.capture;
    if (!p || !is_name(&p, text, bytes))
        return false;
    return *p ? ct_streq(p, "@*") || ct_streq(p + 1, domain) : !*domain;
}

/* Under the lock, as one thread's last may be closed while another opens its first. */
void ct_capture_opens(void)
{
    if (!open)
        ct_drain_settle();
    ct_spin_lock(&lock);
    if (!open++)
        ct_recording_set(true);
    ct_spin_unlock(&lock);
}

void ct_capture_closes(void)
{
    if (open == 1)
        ct_drain_settle();
    ct_spin_lock(&lock);
    if (!--open)
        ct_recording_set(false);
    ct_spin_unlock(&lock);
}

void ct_capture_forget(void)
{
    ct_spin_init(&lock);
    open = 0;
}
