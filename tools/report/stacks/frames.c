/* SPDX-License-Identifier: MIT */
#include "report/stacks/frames.h"

#include <stdlib.h>

#include "report/names.h"
#include "report/sinks/data.h"

void ct_frames_list(struct ct_frames *f, const struct ct_calls *c, const struct ct_merged *m,
                    const struct ct_options *o)
{
    struct ct_string name = {0};
    *f = (struct ct_frames){.lines = m->stacks.line_keys.count};
    f->of_row = ct_memory_array(m->row_keys.count, sizeof(*f->of_row));
    f->of_inside = ct_memory_array(m->stacks.inside_keys.count + (size_t)1, sizeof(*f->of_inside));
    for (size_t i = 1; i < c->count; i++) {
        const struct ct_call *call = &c->call[i];
        if (call->row == CT_CALL_FRAME || ct_frames_of(f, call))
            continue;
        ct_string_clear(&name);
        ct_calls_name(&name, m, call, o);
        *(call->inside ? &f->of_inside[call->inside] : &f->of_row[call->row]) =
            f->lines + ct_key_table_add(&f->operations, name.data, name.len);
    }
    ct_string_free(&name);
}

void ct_frames_free(struct ct_frames *f)
{
    ct_key_table_free(&f->operations);
    free(f->of_row);
    free(f->of_inside);
}

void ct_frames_command(struct ct_string *out, const struct ct_merged *m)
{
    ct_string_put(out, "");
    if (m->process_count)
        ct_name_safe(out, ct_merge_name(m, m->processes[0].command));
}

void ct_frames_say(const struct ct_calls *c)
{
    struct ct_string notes = {0};
    ct_calls_notes(&notes, c);
    for (char *line, *at = notes.data; (line = strsep(&at, "\n")) && *line;)
        ct_data_note(line);
    ct_string_free(&notes);
}
