/* SPDX-License-Identifier: MIT */
/*
 * Format "pprof": a gzipped message Profile of pprof's profile.proto. Texts are numbers of its
 * table, locations and functions have the numbers of frames, plus one.
 */
#include <zlib.h>

#include "report/names.h"
#include "report/reports.h"
#include "report/stacks/frames.h"
#include "report/stacks/wire.h"

enum profile_field {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_MAPPING = 3,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_STRING = 6,
    PROFILE_TIME_NANOS = 9,
    PROFILE_DURATION_NANOS = 10,
    PROFILE_COMMENT = 13,
    PROFILE_DEFAULT_SAMPLE_TYPE = 14
};
enum value_type_field { TYPE_TYPE = 1, TYPE_UNIT = 2 };
enum sample_field { SAMPLE_LOCATION = 1, SAMPLE_VALUE = 2, SAMPLE_LABEL = 3 };
enum label_field { LABEL_KEY = 1, LABEL_TEXT = 2 };
enum mapping_field {
    MAPPING_ID = 1,
    MAPPING_FILE = 5,
    MAPPING_HAS_FUNCTIONS = 7,
    MAPPING_HAS_FILES = 8,
    MAPPING_HAS_LINES = 9
};
enum location_field { LOCATION_ID = 1, LOCATION_MAPPING = 2, LOCATION_LINE = 4 };
enum line_field { LINE_FUNCTION = 1, LINE_LINE = 2 };
enum function_field { FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_FILE = 4 };

#define MAPPING 1 /* the only one; it says that nothing is left to be looked up */

struct pprof {
    const struct ct_merged *m;
    struct ct_calls calls;
    struct ct_frames frames;
    struct ct_key_table texts; /* the first is empty */
    struct ct_string profile;
    struct ct_string message; /* of the profile; empty between them */
};

static uint64_t text_of(struct pprof *p, const char *text)
{
    return ct_key_table_text(&p->texts, text);
}

static uint64_t safe_of(struct pprof *p, uint32_t name)
{
    struct ct_string safe = {0};
    ct_name_safe(&safe, ct_merge_name(p->m, name));
    uint64_t text = text_of(p, safe.data);
    ct_string_free(&safe);
    return text;
}

static void put_type(struct pprof *p, const char *type, const char *unit)
{
    ct_wire_number(&p->message, TYPE_TYPE, text_of(p, type));
    ct_wire_number(&p->message, TYPE_UNIT, text_of(p, unit));
    ct_wire_message(&p->profile, PROFILE_SAMPLE_TYPE, &p->message);
}

/* ---- samples ---- */

static void put_label(struct pprof *p, const struct ct_file_device *d)
{
    struct ct_string name = {0}, label = {0};
    ct_name_safe(&name, ct_merge_name(p->m, d->name));
    ct_string_printf(&name, " (%u)", d->ordinal);
    ct_wire_number(&label, LABEL_KEY, text_of(p, "device"));
    ct_wire_number(&label, LABEL_TEXT, text_of(p, name.data));
    ct_wire_message(&p->message, SAMPLE_LABEL, &label);
    ct_string_free(&name);
    ct_string_free(&label);
}

static void put_sample(struct pprof *p, const struct ct_call *call)
{
    uint32_t stack[CT_FILE_STACK_DEPTH], device = p->m->rows[call->row].sum.device;
    size_t depth = ct_calls_stack(&p->calls, call, stack);
    struct ct_string list = {0};
    ct_wire_varint(&list, ct_frames_of(&p->frames, call) + 1);
    for (size_t i = 0; i < depth; i++)
        ct_wire_varint(&list, stack[i] + 1);
    ct_wire_message(&p->message, SAMPLE_LOCATION, &list);
    ct_wire_varint(&list, call->all.count);
    ct_wire_varint(&list, ct_view_whole_ns(call->all.ns));
    ct_wire_message(&p->message, SAMPLE_VALUE, &list);
    if (device < p->m->device_keys.count)
        put_label(p, &p->m->devices[device].sum);
    ct_wire_message(&p->profile, PROFILE_SAMPLE, &p->message);
    ct_string_free(&list);
}

static void put_samples(struct pprof *p)
{
    const struct ct_calls *c = &p->calls;
    put_type(p, "launches", "count");
    put_type(p, "gpu_kernel_time", "nanoseconds");
    ct_wire_number(&p->profile, PROFILE_DEFAULT_SAMPLE_TYPE, text_of(p, "gpu_kernel_time"));
    for (uint32_t at = c->call[CT_CALL_ROOT].first; at; at = ct_calls_next(c, at))
        if (c->call[at].row != CT_CALL_FRAME)
            put_sample(p, &c->call[at]);
}

/* ---- frames ---- */

/*
 * A function for each frame: readers tell functions by their name and file. None has a system name:
 * with the same there go tool pprof takes a name for C++, and <module> for arguments of a template.
 */
static void put_frame(struct pprof *p, uint32_t frame, uint64_t name, uint64_t file, uint32_t line)
{
    struct ct_string place = {0};
    ct_wire_number(&p->message, FUNCTION_ID, frame + (uint64_t)1);
    ct_wire_number(&p->message, FUNCTION_NAME, name);
    ct_wire_number(&p->message, FUNCTION_FILE, file);
    ct_wire_message(&p->profile, PROFILE_FUNCTION, &p->message);
    ct_wire_number(&place, LINE_FUNCTION, frame + (uint64_t)1);
    ct_wire_number(&place, LINE_LINE, line);
    ct_wire_number(&p->message, LOCATION_ID, frame + (uint64_t)1);
    ct_wire_number(&p->message, LOCATION_MAPPING, MAPPING);
    ct_wire_message(&p->message, LOCATION_LINE, &place);
    ct_wire_message(&p->profile, PROFILE_LOCATION, &p->message);
    ct_string_free(&place);
}

static void put_frames(struct pprof *p)
{
    uint32_t lines = p->frames.lines;
    for (uint32_t i = 0; i < lines; i++) {
        const struct ct_file_line *l = &p->m->stacks.lines[i];
        put_frame(p, i, safe_of(p, l->function), safe_of(p, l->file), l->line);
    }
    for (uint32_t i = 0; i < p->frames.operations.count; i++)
        put_frame(p, lines + i, text_of(p, ct_key_table_get(&p->frames.operations, i)), 0, 0);
}

/* ---- the profile ---- */

static void put_mapping(struct pprof *p)
{
    struct ct_string command = {0};
    ct_frames_command(&command, p->m);
    command.data[strcspn(command.data, " ")] = 0;
    ct_wire_number(&p->message, MAPPING_ID, MAPPING);
    ct_wire_number(&p->message, MAPPING_FILE, text_of(p, command.data));
    ct_wire_number(&p->message, MAPPING_HAS_FUNCTIONS, true);
    ct_wire_number(&p->message, MAPPING_HAS_FILES, true);
    ct_wire_number(&p->message, MAPPING_HAS_LINES, true);
    ct_wire_message(&p->profile, PROFILE_MAPPING, &p->message);
    ct_string_free(&command);
}

static void put_comments(struct pprof *p)
{
    struct ct_string text = {0};
    ct_frames_command(&text, p->m);
    ct_string_put(&text, "\n");
    ct_calls_notes(&text, &p->calls);
    for (char *line, *at = text.data; (line = strsep(&at, "\n"));)
        if (*line)
            ct_wire_varint(&p->message, text_of(p, line));
    ct_wire_message(&p->profile, PROFILE_COMMENT, &p->message);
    ct_string_free(&text);
}

static void put_profile(struct pprof *p)
{
    text_of(p, "");
    put_samples(p);
    put_mapping(p);
    put_frames(p);
    put_comments(p);
    if (p->m->process_count) {
        ct_wire_number(&p->profile, PROFILE_TIME_NANOS, p->m->processes[0].start_unix_ns);
        ct_wire_number(&p->profile, PROFILE_DURATION_NANOS, p->m->processes[0].duration_ns);
    }
    for (uint32_t i = 0; i < p->texts.count; i++)
        ct_wire_bytes(&p->profile, PROFILE_STRING, ct_key_table_get(&p->texts, i),
                      ct_key_table_len(&p->texts, i));
}

static void deflate_to(FILE *out, z_stream *z, int flush)
{
    uint8_t packed[16384];
    do {
        z->next_out = packed;
        z->avail_out = sizeof(packed);
        deflate(z, flush);
        fwrite(packed, 1, sizeof(packed) - z->avail_out, out);
    } while (!z->avail_out);
}

/* The heading of gzip tells no time: equal profiles become equal files. */
static void write_packed(const struct ct_string *s, FILE *out)
{
    enum { GZIP = 16, PIECE_BYTES = 1 << 20 };
    z_stream z = {0};
    if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + GZIP, 8,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        ct_memory_fail();
    for (size_t at = 0; at < s->len; at += PIECE_BYTES) {
        z.next_in = (uint8_t *)s->data + at;
        z.avail_in = (uInt)ct_min(s->len - at, (size_t)PIECE_BYTES);
        deflate_to(out, &z, Z_NO_FLUSH);
    }
    deflate_to(out, &z, Z_FINISH);
    deflateEnd(&z);
}

int ct_format_pprof(const struct ct_input *in, FILE *out)
{
    struct pprof p = {.m = in->m};
    ct_calls_of(&p.calls, in->m, in->device);
    ct_frames_list(&p.frames, &p.calls, in->m, in->o);
    put_profile(&p);
    write_packed(&p.profile, out);
    ct_frames_say(&p.calls);
    ct_key_table_free(&p.texts);
    ct_string_free(&p.profile);
    ct_string_free(&p.message);
    ct_frames_free(&p.frames);
    ct_calls_free(&p.calls);
    return 0;
}
