/* SPDX-License-Identifier: MIT */
#include "base/rank.h"

#include <stdlib.h>

#include "base/base.h"

#define IN_NAMES ".rank"

/*
 * The innermost launcher comes first: torchrun is started by the others, once a node, and they by
 * Slurm. RANK may mean anything, so it comes first only beside the number of all ranks.
 */
static const struct {
    const char *rank;
    const char *ranks;
    bool both;
} launchers[] = {
    {"RANK", "WORLD_SIZE", true},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", false},
    {"PMI_RANK", "PMI_SIZE", false},
    {"PMIX_RANK", "SLURM_NTASKS", false},
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

bool ct_rank_is_wanted(struct ct_rank r, const char *list)
{
    uint64_t wanted;
    if (!r.number || !list)
        return true;
    while (ct_list_next(&list, &wanted))
        if (wanted == r.number - 1)
            return true;
    return false;
}

bool ct_rank_speaks(struct ct_rank r, const char *list)
{
    uint64_t lowest = list ? UINT64_MAX : 0, wanted;
    while (list && ct_list_next(&list, &wanted))
        lowest = ct_min(lowest, wanted);
    return !ct_rank_has_job(r) || r.number - 1 == lowest;
}

void ct_rank_add(struct ct_text *t, struct ct_rank r)
{
    ct_text_add(t, IN_NAMES);
    ct_text_add_u64(t, r.number - 1);
}

/* The digits behind the last mention of a rank in the path's last name; NULL: there are none. */
static const char *find_number(const char *path)
{
    const char *found = NULL;
    for (const char *p = path; *p; p++) {
        if (*p == '/')
            found = NULL;
        if (ct_starts_with(p, IN_NAMES))
            found = p + sizeof(IN_NAMES) - 1;
    }
    return found && *found >= '0' && *found <= '9' ? found : NULL;
}

bool ct_rank_add_all(struct ct_text *t, const char *path)
{
    const char *number = find_number(path);
    if (!number)
        return false;
    while (path < number)
        ct_text_add_char(t, *path++);
    while (*path >= '0' && *path <= '9')
        path++;
    ct_text_add(t, "*");
    ct_text_add(t, path);
    return !ct_text_full(t);
}
