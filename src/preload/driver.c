/* SPDX-License-Identifier: MIT */
#include "preload/driver.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>

#include "base/config.h"
#include "base/text.h"
#include "cutrace/format.h"
#include "preload/init.h"
#include "preload/real_dlsym.h"
#include "state/capture.h"
#include "state/note.h"
#include "state/stream.h"
#include "system/library_copies.h"
#include "system/mem.h"
#include "system/spin.h"

#define INDEX_SLOTS 2048
_Static_assert(CT_DRIVER_COUNT < INDEX_SLOTS * 3 / 4, "the index is too small");

/* The driver, as far as it is known. */
struct driver {
    struct ct_object object;
    ct_function real[CT_DRIVER_COUNT];
    struct {
        const void *address;
        uint32_t id;
    } by_address[INDEX_SLOTS];
};

static struct driver *_Atomic known;

static struct driver *get_known(void)
{
    return atomic_load_explicit(&known, memory_order_acquire);
}

static uint64_t home(const void *address)
{
    return (uint64_t)(uintptr_t)address * 0x9e3779b97f4a7c15u >> 53;
}
_Static_assert(INDEX_SLOTS == 1 << (64 - 53), "home() gives a slot");

static void index_address(struct driver *d, const void *address, uint32_t id)
{
    uint64_t i = home(address);
    while (d->by_address[i].address)
        i = (i + 1) % INDEX_SLOTS;
    d->by_address[i].address = address;
    d->by_address[i].id = id;
}

/* Whether `symbol` is `name`, or a version or a twin of it: not one whose name only begins so. */
static bool is_form_of(const char *symbol, const char *name)
{
    size_t len = ct_strlen(name);
    return ct_starts_with(symbol, name) && (!symbol[len] || symbol[len] == '_');
}

/* Several names may share an address: the one that was asked for is meant. */
static uint32_t id_at(const struct driver *d, const char *name, const void *address)
{
    uint32_t best = CT_API_NONE;
    for (uint64_t i = home(address); d->by_address[i].address; i = (i + 1) % INDEX_SLOTS) {
        uint32_t id = d->by_address[i].id;
        if (d->by_address[i].address != address)
            continue;
        if (best == CT_API_NONE || is_form_of(ct_api_names[id], name))
            best = id;
    }
    return best;
}

static bool is_driver(const struct ct_object *o)
{
    return ct_object_symbol(o, "cuInit") && ct_object_symbol(o, "cuDriverGetVersion") &&
           !ct_is_copy(o);
}

/*
 * An interposer behind us in the search order comes first, as it would without us. One look-up of
 * cuInit tells of it, so that no failing dlsym leaves an error text behind for the program.
 */
static bool is_interposer_behind(const struct driver *d)
{
    void *next = ct_real_dlsym_next("cuInit");
    return next && !ct_object_has(&d->object, next);
}

static void learn(struct driver *d, const struct ct_object *o)
{
    d->object = *o;
    bool ask_next = is_interposer_behind(d);
    for (uint32_t id = 0; id < CT_DRIVER_COUNT; id++) {
        void *own = ct_object_symbol(o, ct_api_names[id]);
        bool next_too = ask_next && own && !ct_api_is_handed(id);
        void *next = next_too ? ct_real_dlsym_next(ct_api_names[id]) : NULL;
        if (own)
            index_address(d, own, id);
        d->real[id] = (ct_function)(uintptr_t)(next ? next : own);
    }
}

/* Wait-free but for the winner's copying: no lock may be held over calls into the loader. */
static void publish(struct driver *d)
{
    static atomic_bool taken;
    if (atomic_exchange(&taken, true)) {
        ct_unmap(d, sizeof(*d));
        for (unsigned tries = 1; !get_known(); tries++)
            ct_spin_pause(tries);
        return;
    }
    __builtin_memcpy(ct_driver_real, d->real, sizeof(ct_driver_real));
    atomic_store_explicit(&known, d, memory_order_release);
    /* Addresses that were handed out stay good when the program closes its handle. */
    if (d->object.name && *d->object.name)
        dlopen(d->object.name, RTLD_LAZY | RTLD_NOLOAD);
}

static void adopt(const struct ct_object *o)
{
    int saved_errno = errno;
    struct driver *d = ct_map(sizeof(*d));
    if (d) {
        learn(d, o);
        publish(d);
    } else {
        ct_give_up_recording();
    }
    errno = saved_errno;
}

bool ct_driver_claim(const void *address)
{
    struct ct_object o;
    if (!get_known()) {
        if (!ct_object_of(address, &o) || !is_driver(&o))
            return false;
        adopt(&o);
    }
    return get_known() && ct_object_has(&get_known()->object, address);
}

static bool visit_driver(const struct ct_object *o, void *arg)
{
    if (!o->name || !ct_is_library(o->name, "libcuda.so") || !is_driver(o))
        return false;
    *(struct ct_object *)arg = *o;
    return true;
}

bool ct_driver_find(void)
{
    struct ct_object o;
    if (!get_known() && ct_objects_visit(visit_driver, &o))
        adopt(&o);
    return get_known() != NULL;
}

ct_function ct_driver_function(uint32_t id)
{
    struct ct_object o;
    if (ct_driver_find())
        return ct_driver_real[id];
    if (!ct_objects_visit(visit_driver, &o))
        return NULL;
    return (ct_function)(uintptr_t)ct_object_symbol(&o, ct_api_names[id]);
}

/* Work of such a function may be in front of a bracket, which may not begin before that then. */
static void note_not_wrapped(const char *name)
{
    if (ct_api_looks_like_capture(name))
        ct_captures_unseen();
    if (!ct_api_looks_like_work(name))
        return;
    ct_work_is_unseen();
    ct_note(CT_NOTE_NOT_WRAPPED, name);
}

static void *substitute(const char *name, void *address, bool handed)
{
    struct driver *d = get_known();
    if (!address || !d)
        return address;
    uint32_t id = id_at(d, name, address);
    if (ct_api_is_handed(id))
        return handed ? (void *)(uintptr_t)ct_driver_wrappers[id] : address;
    if (id != CT_API_NONE)
        return (void *)(uintptr_t)ct_driver_wrappers[id];
    if (ct_object_has(&d->object, address))
        note_not_wrapped(name);
    return address;
}

void *ct_driver_substitute(const char *name, void *address)
{
    return substitute(name, address, false);
}

void *ct_driver_hand_out(const char *name, void *address)
{
    return substitute(name, address, !ct_config.without_memory);
}

void ct_driver_asked(const char *name)
{
    struct driver *d = get_known();
    if (d)
        substitute(name, ct_object_symbol(&d->object, name), false);
}
