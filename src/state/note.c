/* SPDX-License-Identifier: MIT */
#include "state/note.h"

#include "base/text.h"
#include "containers/intern.h"
#include "system/spin.h"

static struct ct_note notes[CT_NOTES];
static CT_PROCESS _Atomic uint32_t count;
static CT_PROCESS struct ct_spin lock;

static struct ct_note *find(uint32_t kind, const char *text)
{
    uint32_t n = ct_notes_count();
    for (uint32_t i = 0; i < n; i++)
        if (notes[i].kind == kind && ct_streq(notes[i].text, text))
            return &notes[i];
    return NULL;
}

/* The last one stands for all that found no room. */
static struct ct_note *add_locked(uint32_t kind, const char *copy)
{
    uint32_t n = ct_notes_count();
    if (n == CT_NOTES)
        return &notes[n - 1];
    notes[n].kind = kind;
    notes[n].text = n < CT_NOTES - 1 ? copy : "(others, for which there was no room)";
    atomic_store_explicit(&notes[n].count, 0, memory_order_relaxed);
    atomic_store_explicit(&count, n + 1, memory_order_release);
    return &notes[n];
}

static struct ct_note *add(uint32_t kind, const char *text)
{
    bool has_room = ct_notes_count() < CT_NOTES - 1;
    const char *copy = has_room ? ct_intern(text, ct_strlen(text)) : text;
    if (!copy)
        copy = "(a note for which there was no memory)";
    ct_spin_lock(&lock);
    struct ct_note *n = find(kind, copy);
    if (!n)
        n = add_locked(kind, copy);
    ct_spin_unlock(&lock);
    return n;
}

void ct_note(uint32_t kind, const char *text)
{
    struct ct_note *n = find(kind, text);
    if (!n)
        n = add(kind, text);
    atomic_fetch_add_explicit(&n->count, 1, memory_order_relaxed);
}

uint32_t ct_notes_count(void)
{
    return atomic_load_explicit(&count, memory_order_acquire);
}

const struct ct_note *ct_note_at(uint32_t index)
{
    return &notes[index];
}
