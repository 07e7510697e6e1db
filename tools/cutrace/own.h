/* SPDX-License-Identifier: MIT */
/*
 * The launcher's own descriptors: above those that anybody counts on, and closed on exec. By that
 * they are told from those it has inherited, which are the program's.
 */
#ifndef OWN_H
#define OWN_H

/* Takes fd over and moves it up. -1: there was none, or no room. */
int own_move_up(int fd);

/*
 * Closes all that was inherited, for a pipe's reader waits for the last writer, and has /dev/null
 * in the place of the standard streams.
 */
void own_drop_inherited(void);

#endif
