/* SPDX-License-Identifier: MIT */
#include "state/capture_range.h"

#include "base/config.h"
#include "base/text.h"
#include "state/recording.h"
#include "system/spin.h"

static CT_PROCESS struct ct_spin lock;
static CT_PROCESS _Atomic uint64_t open;
static CT_PROCESS uint32_t telling; /* threads that tell the streams; under the lock */
static void (*settle)(void);

/* Whether the name, up to its domain's @, is the text; "\@" is an @ of it. Moves *pattern. */
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

static bool opens_locked(void)
{
    bool is_first = !open++;
    if (is_first)
        ct_recording_switch(true);
    return is_first;
}

static bool closes_locked(void)
{
    bool is_last = !--open;
    if (is_last)
        ct_recording_switch(false);
    return is_last;
}

/*
 * Switches under the lock, as one thread's last range may be closed while another opens its first.
 * Thousands of streams may have to be told: without the lock, and also by a thread that comes
 * before another one is done, whose streams may be among those that were not told yet.
 */
static void change(bool (*switches)(void))
{
    ct_spin_lock(&lock);
    bool tells = switches() || telling;
    telling += tells;
    ct_spin_unlock(&lock);
    if (!tells)
        return;
    ct_recording_tell();
    ct_spin_lock(&lock);
    telling--;
    ct_spin_unlock(&lock);
}

static void settle_before(void)
{
    if (settle)
        settle();
}

void ct_capture_init(void (*settle_first)(void))
{
    settle = settle_first;
}

void ct_capture_opens(void)
{
    if (!open)
        settle_before();
    change(opens_locked);
}

void ct_capture_closes(void)
{
    if (open == 1)
        settle_before();
    change(closes_locked);
}
