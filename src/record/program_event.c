/* SPDX-License-Identifier: MIT */
#include "record/program_event.h"

#include "base/table.h"

enum { WITHOUT_TIME = 1, BEHIND_GATE = 2 };

/* event -> what it is; those that never were anything are not there */
static struct ct_table known;

bool ct_program_events_init(void)
{
    return ct_table_init(&known, 14);
}

void ct_program_events_forget(void)
{
    known.slots = NULL;
}

static uint64_t look(CUevent event)
{
    uint64_t is = 0;
    return known.slots && ct_table_find(&known, (uintptr_t)event, &is) ? is : 0;
}

static void keep(CUevent event, uint64_t before, uint64_t is)
{
    if (event && known.slots && is != before)
        ct_table_put(&known, (uintptr_t)event, is);
}

void ct_program_event_made(CUevent event, unsigned flags)
{
    keep(event, look(event), flags & CU_EVENT_DISABLE_TIMING ? WITHOUT_TIME : 0);
}

bool ct_program_event_recorded(CUevent event, bool behind_gate)
{
    uint64_t before = look(event), is = before & WITHOUT_TIME;
    keep(event, before, behind_gate ? is | BEHIND_GATE : is);
    return !is;
}

bool ct_program_event_is_behind_gate(CUevent event)
{
    return look(event) & BEHIND_GATE;
}
