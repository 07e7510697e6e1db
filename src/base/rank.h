/* SPDX-License-Identifier: MIT */
/* The process's place in its parallel job, as the launcher that started it left it. */
#ifndef CT_RANK_H
#define CT_RANK_H

#include <stdint.h>

struct ct_rank {
    uint32_t number; /* of the process, plus one; 0: not known */
    uint32_t of;     /* how many there are; 0: not known */
};

struct ct_rank ct_rank_read(void);

#endif
