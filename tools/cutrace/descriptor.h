/* SPDX-License-Identifier: MIT */
/*
 * The launcher's own descriptors: above those that anybody counts on, and closed on exec. That flag
 * tells them from inherited descriptors, which are the program's.
 */
#ifndef DESCRIPTOR_H
#define DESCRIPTOR_H

/* Takes fd over and moves it up. -1: fd was -1, or there is no room. */
int descriptor_move_up(int fd);

/*
 * Closes the inherited descriptors, as a pipe's reader waits for the last writer, and puts
 * /dev/null in the place of the standard streams.
 */
void descriptor_drop_inherited(void);

#endif
