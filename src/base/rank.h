/* SPDX-License-Identifier: MIT */
/* The process's place in its parallel job, as the launcher that started it left it. */
#ifndef CT_RANK_H
#define CT_RANK_H

#include "base/text.h"

struct ct_rank {
    uint32_t number; /* the process's rank plus one; 0: not known */
    uint32_t of;     /* ranks in the job; 0: not known */
};

struct ct_rank ct_rank_read(void);

/* Whether the process is one of several, with files and a voice of its own. */
static inline bool ct_rank_has_job(struct ct_rank r)
{
    return r.number && r.of > 1;
}

/* Whether the rank is in a list of numbers (NULL: all). A process without a rank is in each. */
bool ct_rank_is_wanted(struct ct_rank r, const char *list);

/* Whether the process says things that are equal for all: alone, or the lowest rank in the list. */
bool ct_rank_speaks(struct ct_rank r, const char *list);

/* Adds ".rank3", which goes before the extension of files' names. */
void ct_rank_add(struct ct_text *t, struct ct_rank r);

/*
 * Adds a shell pattern of all ranks' files, made from one file's name. False: the name has no rank
 * in it, or the pattern does not fit.
 */
bool ct_rank_add_all(struct ct_text *t, const char *path);

#endif
