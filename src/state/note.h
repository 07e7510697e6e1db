/* SPDX-License-Identifier: MIT */
/* Remarks for the report, and how often each came up; those beyond CT_NOTES count as the last. */
#ifndef CT_NOTE_H
#define CT_NOTE_H

#include <stdatomic.h>

#include "base/base.h"

#define CT_NOTES 256

struct ct_note {
    uint32_t kind; /* enum ct_note_kind */
    const char *text;
    _Atomic uint64_t count;
};

/* Any thread; not on the launch path. */
void ct_note(uint32_t kind, const char *text);
uint32_t ct_notes_count(void);
const struct ct_note *ct_note_at(uint32_t index);

#endif
