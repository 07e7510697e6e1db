/* SPDX-License-Identifier: MIT */
#include "state/program_event.h"

#include "containers/directory.h"

enum { WITHOUT_TIME = 1, BEHIND_GATE = 2, STREAM = 4 };

/*
 * event -> its flags above, and its stream's number times STREAM; events of which nothing is known
 * are not there. Where room is out, events behind no gate are forgotten, and then count as such
 * that stamp the time.
 */
static CT_PROCESS struct ct_directory known;
static CT_PROCESS atomic_bool has_lost_gates; /* any event may be behind a gate */

static bool stays(uint64_t is)
{
    return is & BEHIND_GATE;
}

bool ct_program_events_init(void)
{
    return ct_directory_init(&known, stays);
}

static uint64_t look(CUevent event)
{
    uint64_t is = 0;
    return ct_directory_find(&known, (uintptr_t)event, &is) ? is : 0;
}

static void keep(CUevent event, uint64_t before, uint64_t is)
{
    if (!event || !known.shelf || is == before)
        return;
    if (!is)
        ct_directory_remove(&known, (uintptr_t)event, before);
    else if (!ct_directory_put(&known, (uintptr_t)event, is) && is & BEHIND_GATE)
        atomic_store_explicit(&has_lost_gates, true, memory_order_relaxed);
}

void ct_program_event_made(CUevent event, unsigned flags)
{
    keep(event, look(event), flags & CU_EVENT_DISABLE_TIMING ? WITHOUT_TIME : 0);
}

bool ct_program_event_recorded(CUevent event, bool behind_gate, uint32_t stream)
{
    uint64_t before = look(event), is = before & WITHOUT_TIME;
    keep(event, before, is | (behind_gate ? BEHIND_GATE : 0) | (uint64_t)stream * STREAM);
    return !is;
}

uint32_t ct_program_event_stream(CUevent event)
{
    return (uint32_t)(look(event) / STREAM);
}

bool ct_program_event_is_behind_gate(CUevent event)
{
    return look(event) & BEHIND_GATE || atomic_load_explicit(&has_lost_gates, memory_order_relaxed);
}

void ct_program_event_gone(CUevent event)
{
    keep(event, look(event), 0);
}
