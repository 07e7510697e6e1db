/* SPDX-License-Identifier: MIT */
#include "base/process.h"

#include "base/base.h"

/* The linker's: where each section begins and ends, if there is any of it. */
#define BOUND(name) extern char name[] __attribute__((weak, visibility("hidden")))
BOUND(__start_ct_process);
BOUND(__stop_ct_process);
BOUND(__start_ct_process_read);
BOUND(__stop_ct_process_read);

void ct_process_forget(void)
{
    __builtin_memset(__start_ct_process, 0, (size_t)(__stop_ct_process - __start_ct_process));
    __builtin_memset(__start_ct_process_read, 0,
                     (size_t)(__stop_ct_process_read - __start_ct_process_read));
}
