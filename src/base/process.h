/* SPDX-License-Identifier: MIT */
/* State of the process, where it is declared: CT_PROCESS in base.h. */
#ifndef CT_PROCESS_H
#define CT_PROCESS_H

/* In the child of a fork, of which the calling thread is the only one: all of it is zero again. */
void ct_process_forget(void);

#endif
