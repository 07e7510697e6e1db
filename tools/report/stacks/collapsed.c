/* SPDX-License-Identifier: MIT */
/* Format "collapsed": a stack a line, with the GPU's time. */
#include "report/reports.h"
#include "report/stacks/frames.h"

/* Frames are told apart by semicolons. */
static void put_part(struct ct_string *line, const char *text)
{
    for (; *text; text++)
        ct_string_add(line, *text == ';' ? ":" : text, 1);
}

static void put_frame(struct ct_string *line, const struct ct_merged *m, uint32_t index)
{
    const struct ct_file_line *f = &m->stacks.lines[index];
    struct ct_string text = {0};
    ct_name_safe(&text, ct_merge_name(m, f->function));
    put_part(line, text.data);
    ct_string_clear(&text);
    ct_name_safe(&text, ct_merge_name(m, f->file));
    if (text.len) {
        ct_string_put(line, " (");
        put_part(line, text.data);
        ct_string_printf(line, ":%u)", f->line);
    }
    ct_string_put(line, ";");
    ct_string_free(&text);
}

int ct_format_collapsed(const struct ct_input *in, FILE *out)
{
    struct ct_calls c;
    struct ct_string line = {0}, name = {0};
    uint32_t stack[CT_FILE_STACK_DEPTH];
    ct_calls_of(&c, in->m, in->device);
    for (uint32_t at = c.call[CT_CALL_ROOT].first; at; at = ct_calls_next(&c, at)) {
        const struct ct_call *call = &c.call[at];
        if (call->row == CT_CALL_FRAME)
            continue;
        for (size_t depth = ct_calls_stack(&c, call, stack); depth;)
            put_frame(&line, in->m, stack[--depth]);
        ct_string_clear(&name);
        ct_calls_name(&name, in->m, call, in->o);
        put_part(&line, name.data);
        ct_string_printf(&line, " %.0f\n", call->all.ns);
        ct_string_write(&line, out);
    }
    ct_frames_say(&c);
    ct_string_free(&line);
    ct_string_free(&name);
    ct_calls_free(&c);
    return 0;
}
