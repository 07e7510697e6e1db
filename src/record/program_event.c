/* SPDX-License-Identifier: MIT */
#include "record/program_event.h"

#include "base/table.h"

static struct ct_table
    without_time; /* event -> whether it is one; those that never were are not there */

bool ct_program_events_init(void)
{
    return ct_table_init(&without_time, 14);
}

void ct_program_events_forget(void)
{
    without_time.slots = NULL;
}

static bool is_without(CUevent event)
{
    uint64_t is = 0;
    return without_time.slots && ct_table_find(&without_time, (uintptr_t)event, &is) && is;
}

void ct_program_event_made(CUevent event, unsigned flags)
{
    bool without = flags & CU_EVENT_DISABLE_TIMING;
    if (event && without_time.slots && is_without(event) != without)
        ct_table_put(&without_time, (uintptr_t)event, without);
}

bool ct_program_event_stamps(CUevent event)
{
    return !is_without(event);
}
