/* SPDX-License-Identifier: MIT */
#include "report/trace/label_groups.h"

#include <stdlib.h>

#include "report/names.h"
#include "report/profile/ranges.h"

static struct ct_string spell(const struct ct_trace_label *label, bool is_folded)
{
    struct ct_string name = {0}, safe = {0};
    if (*label->domain)
        ct_string_printf(&name, "%s:", label->domain);
    if (is_folded)
        ct_range_fold(&name, label->name);
    else
        ct_string_put(&name, label->name);
    ct_name_safe(&safe, name.data ? name.data : "");
    ct_string_free(&name);
    return safe;
}

uint32_t ct_label_groups_of(struct ct_label_groups *g, const struct ct_trace_label *label)
{
    struct ct_string key = {0};
    ct_string_add(&key, label->domain, strlen(label->domain) + 1);
    ct_range_fold(&key, label->name);
    uint32_t known = g->keys.count, at = ct_key_table_add(&g->keys, key.data, key.len);
    g->at = ct_memory_grow(g->at, &g->size, (size_t)at + 1, sizeof(*g->at));
    struct ct_label_group *group = &g->at[at];
    struct ct_string name = spell(label, false);
    bool differs = at != known && !group->is_folded && strcmp(group->name.data, name.data) != 0;
    if (at == known) {
        group->name = name;
        name = (struct ct_string){0};
    }
    if (differs) {
        ct_string_free(&group->name);
        group->name = spell(label, true);
        group->is_folded = true;
    }
    ct_string_free(&name);
    ct_string_free(&key);
    return at;
}

const char *ct_label_groups_name(const struct ct_label_groups *g, uint32_t number)
{
    return g->at[number].name.data;
}

void ct_label_groups_free(struct ct_label_groups *g)
{
    for (uint32_t i = 0; i < g->keys.count; i++)
        ct_string_free(&g->at[i].name);
    free(g->at);
    ct_key_table_free(&g->keys);
}
