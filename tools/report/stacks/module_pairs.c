/* SPDX-License-Identifier: MIT */
#include "report/stacks/module_pairs.h"

#include <stdlib.h>

#include "report/stacks/modules.h"

struct pairing {
    struct ct_module_pairs *to;
    struct ct_key_table keys, types;
};

/* Pairs are numbered as they come, so that a module's parent has its own by then. */
static void add_side(struct pairing *x, const struct ct_merged *m, const struct ct_calls *c,
                     bool is_after)
{
    uint32_t *pair_of = ct_memory_array(c->count, sizeof(*pair_of));
    for (size_t i = 1; i < c->count; i++) {
        const struct ct_call *call = &c->call[i];
        const struct ct_file_module *f = &m->stacks.modules[call->module];
        const char *type = ct_merge_name(m, f->type);
        if (!call->all.count)
            continue;
        uint32_t parent = pair_of[call->parent];
        uint32_t key[] = {parent, ct_key_table_text(&x->types, type), f->number};
        uint32_t at = ct_key_table_add(&x->keys, key, sizeof(key));
        struct ct_module_pair *pair = &x->to->at[at];
        pair_of[i] = at + 1;
        if (at == x->to->count) {
            x->to->count++;
            pair->parent = parent;
            pair->depth = parent ? x->to->at[parent - 1].depth + 1 : 1;
            pair->number = f->number;
            pair->type = type;
        }
        *(is_after ? &pair->change.after : &pair->change.before) =
            (struct ct_change_side){&call->own, &call->all};
    }
    free(pair_of);
}

/* As the report of one run has it: a number stands where a type comes more than once. */
static void find_several(struct pairing *x)
{
    struct ct_key_table places = {0};
    uint32_t *count = ct_memory_array(x->to->count, sizeof(*count));
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < x->to->count; i++) {
            struct ct_module_pair *pair = &x->to->at[i];
            uint32_t key[] = {pair->parent, ct_key_table_text(&x->types, pair->type)};
            uint32_t place = ct_key_table_add(&places, key, sizeof(key));
            count[place] += !round;
            pair->is_of_several = pair->number || count[place] > 1;
        }
    ct_key_table_free(&places);
    free(count);
}

void ct_module_pairs_make(struct ct_module_pairs *p, const struct ct_merged *before,
                          const struct ct_calls *before_calls, const struct ct_merged *after,
                          const struct ct_calls *after_calls)
{
    struct pairing x = {.to = p};
    *p = (struct ct_module_pairs){.is_known = before_calls->call[CT_CALL_ROOT].first &&
                                              after_calls->call[CT_CALL_ROOT].first};
    p->at = ct_memory_array(before_calls->count + after_calls->count, sizeof(*p->at));
    add_side(&x, before, before_calls, false);
    add_side(&x, after, after_calls, true);
    find_several(&x);
    for (size_t i = 0; i < p->count; i++)
        p->at[i].change = ct_change_of(p->at[i].change.before, p->at[i].change.after);
    ct_key_table_free(&x.keys);
    ct_key_table_free(&x.types);
}

void ct_module_pairs_free(struct ct_module_pairs *p)
{
    free(p->at);
}

void ct_module_pairs_path(struct ct_string *out, const struct ct_module_pairs *p, size_t at)
{
    size_t path[CT_FILE_MODULE_DEPTH];
    unsigned n = 0;
    for (size_t next = at + 1; next; next = p->at[next - 1].parent)
        path[n++] = next - 1;
    while (n) {
        const struct ct_module_pair *pair = &p->at[path[--n]];
        ct_modules_name(out, pair->type, pair->number, pair->is_of_several);
        ct_string_put(out, n ? "/" : "");
    }
}

const char *ct_module_pairs_verdict(const struct ct_module_pairs *p, size_t at)
{
    const struct ct_change *change = &p->at[at].change;
    if (!p->is_known)
        return NULL;
    return !change->before.all ? "new" : !change->after.all ? "vanished" : NULL;
}
