/* SPDX-License-Identifier: MIT */
/*
 * Names of domains, categories and threads, as the program gives them. They hold to the end, in the
 * child of a fork as well.
 */
#include "base/text.h"
#include "containers/intern.h"
#include "counts/range.h"
#include "system/spin.h"

#define NAMED 1024 /* names of threads, and as many of categories */

static struct {
    struct ct_spin lock;
    _Atomic uint32_t count; /* without the default domain */
    const char *name[CT_RANGE_DOMAINS];
} domains;

/* Numbers with names. */
struct numbered {
    struct ct_spin lock;
    uint32_t count;
    struct {
        uint64_t number;
        const char *name;
    } at[NAMED];
};

static struct numbered threads, categories;
static _Atomic uint32_t namings;

void ct_range_names_forget(void)
{
    ct_spin_init(&domains.lock);
    ct_spin_init(&threads.lock);
    ct_spin_init(&categories.lock);
}

/* 0: there is no such domain. Takes no lock. */
static uint32_t find_domain(const char *name, size_t bytes)
{
    uint32_t n = atomic_load_explicit(&domains.count, memory_order_acquire);
    for (uint32_t i = 1; i <= n; i++)
        if (ct_same_text(domains.name[i], name, bytes))
            return i;
    return 0;
}

static bool has_domain_left(void)
{
    return atomic_load_explicit(&domains.count, memory_order_relaxed) < CT_RANGE_DOMAINS - 2;
}

static uint32_t add_domain_locked(const char *copy)
{
    uint32_t n = atomic_load_explicit(&domains.count, memory_order_relaxed);
    domains.name[n + 1] = copy;
    atomic_store_explicit(&domains.count, n + 1, memory_order_release);
    return n + 1;
}

uint32_t ct_range_domain(const char *name, size_t bytes)
{
    uint32_t domain = find_domain(name, bytes);
    const char *copy = !domain && has_domain_left() ? ct_intern(name, bytes) : NULL;
    if (copy) {
        ct_spin_lock(&domains.lock);
        domain = find_domain(name, bytes);
        if (!domain && has_domain_left())
            domain = add_domain_locked(copy);
        ct_spin_unlock(&domains.lock);
    }
    return domain ? domain : CT_RANGE_DOMAINS - 1;
}

const char *ct_range_domain_name(uint32_t domain)
{
    if (domain == CT_RANGE_DOMAINS - 1)
        return "(other domains)";
    return domain ? domains.name[domain] : "";
}

static uint32_t find_locked(const struct numbered *n, uint64_t number)
{
    uint32_t i = 0;
    while (i < n->count && n->at[i].number != number)
        i++;
    return i;
}

static void give_name(struct numbered *n, uint64_t number, const char *name)
{
    ct_spin_lock(&n->lock);
    uint32_t i = find_locked(n, number);
    if (i < NAMED) {
        n->at[i].number = number;
        n->at[i].name = name;
        n->count = (uint32_t)ct_max(n->count, i + 1);
    }
    ct_spin_unlock(&n->lock);
}

static const char *given_name(struct numbered *n, uint64_t number)
{
    ct_spin_lock(&n->lock);
    uint32_t i = find_locked(n, number);
    const char *name = i < n->count ? n->at[i].name : NULL;
    ct_spin_unlock(&n->lock);
    return name;
}

void ct_range_name_category(uint32_t domain, uint32_t category, const char *name)
{
    give_name(&categories, (uint64_t)domain << 32 | category, name);
}

const char *ct_range_category_name(uint32_t domain, uint32_t category)
{
    return category ? given_name(&categories, (uint64_t)domain << 32 | category) : NULL;
}

void ct_range_name_thread(uint32_t tid, const char *name)
{
    give_name(&threads, tid, name);
    atomic_fetch_add_explicit(&namings, 1, memory_order_release);
}

const char *ct_range_thread_name(uint32_t tid)
{
    return given_name(&threads, tid);
}

uint32_t ct_range_namings(void)
{
    return atomic_load_explicit(&namings, memory_order_acquire);
}
