/* SPDX-License-Identifier: MIT */
/* The table at exit. */
#ifndef CT_SHOW_H
#define CT_SHOW_H

/* When CUDA starts: copies the part of the environment that the report gets. */
void ct_show_start(void);

/* To be called by the thread that will call ct_show(), before the drain thread is stopped. */
void ct_show_is_near(void);

/* Looks for a filter on the ending thread, with the last figures. Drain thread or its stand-in. */
void ct_show_look(void);

/*
 * Has the report tool print the profile on stderr, as a child with a clean environment; says in one
 * line where the profile is when the tool cannot. Called once, from the exit handler.
 */
void ct_show(void);

#endif
