/* SPDX-License-Identifier: MIT */
/* The process's place in its parallel job, as the launcher that started it left it. */
#ifndef CT_RANK_H
#define CT_RANK_H

#include "base/text.h"

struct ct_rank {
    uint32_t number; /* of the process, plus one; 0: not known */
    uint32_t of;     /* how many there are; 0: not known */
};

struct ct_rank ct_rank_read(void);

/* One of several, with files and a voice of its own. */
static inline bool ct_rank_has_job(struct ct_rank r)
{
    return r.number && r.of > 1;
}

/* Whether it is in a list of numbers, NULL: all. What has no rank is in each. */
bool ct_rank_is_wanted(struct ct_rank r, const char *list);

/* Whether it is the one of the wanted that says what is the same for all: the lowest. */
bool ct_rank_speaks(struct ct_rank r, const char *list);

/* ".rank3", before the extension of files' names. */
void ct_rank_add(struct ct_text *t, struct ct_rank r);

/*
 * A shell pattern of the files of all ranks from the name of one of them. False: that name has no
 * rank in it.
 */
bool ct_rank_add_all(struct ct_text *t, const char *path);

#endif
