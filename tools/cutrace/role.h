/* SPDX-License-Identifier: MIT */
/*
 * The launcher's own place in a parallel job: in "mpirun cutrace ./app" there is a launcher in each
 * rank, and one of them speaks. In "cutrace mpirun ./app" the launcher has no rank.
 */
#ifndef ROLE_H
#define ROLE_H

#include "base/rank.h"
#include "launcher_options.h"

void role_find(const struct options *o);

struct ct_rank role_rank(void);
/* Whether ranks have been asked for without this one. */
bool role_is_left_out(void);
/* Whether the launcher prints the table, and the others' lines as well. */
bool role_speaks(void);

#endif
