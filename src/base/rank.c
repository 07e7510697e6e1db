/* SPDX-License-Identifier: MIT */
#include "base/rank.h"

#include <stdlib.h>

#include "base/base.h"
#include "base/text.h"

/*
 * The innermost launcher comes first: torchrun is started by the others, once a node, and they by
 * Slurm. RANK alone may mean anything, so that it comes first only with the number of all.
 */
static const struct {
    const char *rank;
    const char *ranks;
    bool both;
} launchers[] = {
    {"RANK", "WORLD_SIZE", true},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", false},
    {"PMI_RANK", "PMI_SIZE", false},
    {"PMIX_RANK", NULL, false},
    {"SLURM_PROCID", "SLURM_NTASKS", false},
    {"RANK", NULL, false},
};

static bool is_number(const char *name, uint64_t most, uint64_t *value)
{
    const char *text = name ? getenv(name) : NULL;
    return text && ct_parse_u64(text, value) && *value <= most;
}

struct ct_rank ct_rank_read(void)
{
    for (size_t i = 0; i < ct_countof(launchers); i++) {
        uint64_t rank, ranks;
        if (!is_number(launchers[i].rank, UINT32_MAX - 1, &rank))
            continue;
        if (!is_number(launchers[i].ranks, UINT32_MAX, &ranks) || rank >= ranks)
            ranks = 0;
        if (ranks || !launchers[i].both)
            return (struct ct_rank){(uint32_t)rank + 1, (uint32_t)ranks};
    }
    return (struct ct_rank){0, 0};
}
