/* SPDX-License-Identifier: MIT */
#include "base/process.h"

#include "base/base.h"

/* The linker's: where each section begins and ends, if there is any of it. */
#define BOUND(name) extern char name[] __attribute__((weak, visibility("hidden")))
BOUND(__start_ct_process);
BOUND(__stop_ct_process);
BOUND(__start_ct_process_read);
BOUND(__stop_ct_process_read);

/* Sanitizers put guards between variables, and would complain of a plain memset(). */
static CT_BARE void zero(char *from, const char *to)
{
    for (volatile char *p = from; p < to; p++)
        *p = 0;
}

void ct_process_forget(void)
{
    zero(__start_ct_process, __stop_ct_process);
    zero(__start_ct_process_read, __stop_ct_process_read);
}
