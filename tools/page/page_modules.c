/* SPDX-License-Identifier: MIT */
#include "page/page_modules.h"

#include <stdlib.h>

#include "page/json.h"
#include "report/profile/view.h"
#include "report/short_names.h"
#include "report/sinks/short_paths.h"
#include "report/stacks/module_pairs.h"
#include "report/stacks/modules.h"

enum { PARENT, NAME, OLD, OLD_OWN, OLD_COUNT, NEW, NEW_OWN, NEW_COUNT, COLUMNS };
static const char *const columns[COLUMNS] = {"parent",    "name", "old",     "old_own",
                                             "old_count", "new",  "new_own", "new_count"};

static void append_side(json_t **column, int first, const struct ct_change_side *side)
{
    bool has = side->all != NULL;
    ct_json_append_count(column[first], has ? ct_view_whole_ns(side->all->ns) : 0);
    ct_json_append_count(column[first + 1], has ? ct_view_whole_ns(side->own->ns) : 0);
    ct_json_append_count(column[first + 2], has ? side->all->count : 0);
}

static json_t *short_paths_of(const struct ct_module_pairs *p)
{
    json_t *to = ct_json_array();
    const char **paths = ct_memory_array(p->count, sizeof(*paths));
    for (size_t i = 0; i < p->count; i++) {
        struct ct_string path = {0};
        ct_module_pairs_path(&path, p, i);
        paths[i] = path.data;
    }
    char **texts = ct_short_paths(paths, p->count, 0);
    for (size_t i = 0; i < p->count; i++) {
        ct_json_append_text(to, texts[i]);
        free((char *)paths[i]);
    }
    ct_short_names_free(texts, p->count);
    free(paths);
    return to;
}

static json_t *columns_of(const struct ct_module_pairs *p)
{
    json_t *to = ct_json_object(), *names = ct_json_array(), *column[COLUMNS];
    struct ct_key_table known = {0};
    struct ct_string name = {0};
    for (int i = 0; i < COLUMNS; i++)
        column[i] = ct_json_array();
    for (size_t i = 0; i < p->count; i++) {
        const struct ct_module_pair *pair = &p->at[i];
        ct_string_clear(&name);
        ct_modules_name(&name, pair->type, pair->number, pair->is_of_several);
        uint32_t at = ct_key_table_text(&known, name.data);
        if (at == json_array_size(names))
            ct_json_append_text(names, name.data);
        ct_json_append_count(column[PARENT], pair->parent);
        ct_json_append_count(column[NAME], at);
        append_side(column, OLD, &pair->change.before);
        append_side(column, NEW, &pair->change.after);
    }
    for (int i = 0; i < COLUMNS; i++)
        ct_json_set(to, columns[i], column[i]);
    ct_json_set(to, "names", names);
    ct_json_set(to, "short", short_paths_of(p));
    ct_key_table_free(&known);
    ct_string_free(&name);
    return to;
}

json_t *ct_page_modules_compare(const struct ct_diff *d)
{
    struct ct_calls a, b;
    struct ct_module_pairs pairs;
    ct_calls_of_modules(&a, &d->before, CT_VIEW_ALL_DEVICES);
    ct_calls_of_modules(&b, &d->after, CT_VIEW_ALL_DEVICES);
    ct_module_pairs_make(&pairs, &d->before, &a, &d->after, &b);
    json_t *to = pairs.is_known ? columns_of(&pairs) : NULL;
    ct_module_pairs_free(&pairs);
    ct_calls_free(&a);
    ct_calls_free(&b);
    return to;
}
