/* SPDX-License-Identifier: MIT */
/* The table at exit. */
#ifndef CT_SHOW_H
#define CT_SHOW_H

/*
 * Has the report tool print the profile on stderr, as a child with a clean environment; says in
 * one line where the profile is when it cannot. Called once, from the exit handler.
 */
void ct_show(void);

#endif
