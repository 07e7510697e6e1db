/* SPDX-License-Identifier: MIT */
/* Fields have their numbers from third_party/perfetto/track_event.proto, and come in their order.
 */
#include "report/exports/perfetto_slice.h"

#include <stdbool.h>
#include <string.h>

enum packet { TIMESTAMP = 8, SEQUENCE_ID = 10, EVENT = 11, FLAGS = 13 };
enum event { CATEGORY = 3, ANNOTATION = 4, TYPE = 9, NAME = 10, TRACK = 11, FLOW = 47 };
enum annotation { ANNOTATION_NAME = 1 };
enum wire { VARINT, FIXED64, LENGTH };

#define NEEDS_INCREMENTAL_STATE 2
#define EVENT_BYTES                                                                                \
    (CT_PERFETTO_ANNOTATIONS * CT_PERFETTO_ANNOTATION_BYTES + 5 * (2 + CT_VARINT_MOST))
_Static_assert(EVENT_BYTES + 12 * CT_VARINT_MOST < CT_PERFETTO_SLICE_BYTES, "both packets fit");

static uint8_t *put_key(uint8_t *to, unsigned field, enum wire wire)
{
    return ct_varint_put(to, field << 3 | wire);
}

static uint8_t *put_number(uint8_t *to, unsigned field, uint64_t value)
{
    return ct_varint_put(put_key(to, field, VARINT), value);
}

static uint8_t *put_fixed(uint8_t *to, unsigned field, uint64_t value)
{
    to = put_key(to, field, FIXED64);
    for (int i = 0; i < 8; i++)
        *to++ = (uint8_t)(value >> 8 * i);
    return to;
}

static uint8_t *put_bytes(uint8_t *to, const uint8_t *bytes, size_t len)
{
    memcpy(to, bytes, len);
    return to + len;
}

static uint8_t *put_packet(uint8_t *to, uint64_t ns, const uint8_t *event, size_t len)
{
    uint8_t head[4 * CT_VARINT_MOST], flags[2], *end = head;
    end = put_number(end, TIMESTAMP, ns);
    end = put_number(end, SEQUENCE_ID, CT_PERFETTO_SEQUENCE);
    end = put_key(end, EVENT, LENGTH);
    end = ct_varint_put(end, len);
    put_number(flags, FLAGS, NEEDS_INCREMENTAL_STATE);
    *to++ = CT_PERFETTO_PACKET;
    to = ct_varint_put(to, (size_t)(end - head) + len + sizeof(flags));
    to = put_bytes(to, head, (size_t)(end - head));
    to = put_bytes(to, event, len);
    return put_bytes(to, flags, sizeof(flags));
}

void ct_perfetto_annotate(struct ct_perfetto_slice *s, uint8_t name, enum ct_perfetto_value kind,
                          uint64_t value)
{
    uint8_t *begin = s->annotations + s->annotation_bytes;
    uint8_t *inside = put_key(begin, ANNOTATION, LENGTH) + 1; /* one byte suffices for the length */
    uint8_t *end = put_number(put_number(inside, ANNOTATION_NAME, name), kind, value);
    inside[-1] = (uint8_t)(end - inside);
    s->annotation_bytes += (size_t)(end - begin);
}

uint8_t *ct_perfetto_put_phase(uint8_t *to, const struct ct_perfetto_slice *s,
                               enum ct_perfetto_phase phase, uint64_t ns)
{
    uint8_t event[EVENT_BYTES], *end = event;
    bool is_end = phase == CT_PERFETTO_END;
    if (!is_end) {
        end = put_number(end, CATEGORY, s->category);
        end = put_bytes(end, s->annotations, s->annotation_bytes);
    }
    end = put_number(end, TYPE, phase);
    if (!is_end)
        end = put_number(end, NAME, s->name);
    end = put_number(end, TRACK, s->track);
    if (!is_end && s->flow)
        end = put_fixed(end, FLOW, s->flow);
    return put_packet(to, ns, event, (size_t)(end - event));
}

uint8_t *ct_perfetto_put_slice(uint8_t *to, const struct ct_perfetto_slice *s, uint64_t begin_ns,
                               uint64_t end_ns)
{
    to = ct_perfetto_put_phase(to, s, CT_PERFETTO_BEGIN, begin_ns);
    return ct_perfetto_put_phase(to, s, CT_PERFETTO_END, end_ns);
}
