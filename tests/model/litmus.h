/* SPDX-License-Identifier: MIT */
#ifndef LITMUS_H
#define LITMUS_H

/* Ends the program when the checker itself is wrong. */
void litmus(void);

#endif
