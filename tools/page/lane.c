/* SPDX-License-Identifier: MIT */
#include "page/lane.h"

#include "format/varint.h"

static void put(struct ct_string *column, uint64_t value)
{
    uint8_t bytes[CT_VARINT_MOST], *end = ct_varint_put(bytes, value);
    ct_string_add(column, bytes, (size_t)(end - bytes));
}

static void put_open(struct ct_lane *lane)
{
    const struct ct_lane_item *i = &lane->open;
    if (!lane->open_count)
        return;
    put(&lane->columns[0], ct_varint_fold((int64_t)(i->start_ns - lane->last_end_ns)));
    put(&lane->columns[1], i->end_ns - i->start_ns);
    put(&lane->columns[2], i->what);
    put(&lane->columns[3], ct_varint_fold((int64_t)(i->correlation - lane->last_correlation)));
    put(&lane->columns[4], i->bytes);
    put(&lane->columns[5], lane->open_count);
    put(&lane->columns[6], i->shape);
    lane->last_end_ns = i->end_ns;
    lane->last_correlation = i->correlation;
    lane->items++;
    lane->open_count = 0;
}

static void open_item(struct ct_lane *lane, const struct ct_lane_item *item)
{
    put_open(lane);
    lane->open = *item;
    lane->open_count = 1;
    lane->open_longest_ns = item->end_ns - item->start_ns;
}

static void join(struct ct_lane *lane, const struct ct_lane_item *item)
{
    struct ct_lane_item *to = &lane->open;
    uint64_t ns = item->end_ns - item->start_ns;
    to->end_ns = item->end_ns > to->end_ns ? item->end_ns : to->end_ns;
    to->bytes += item->bytes;
    if (ns > lane->open_longest_ns) {
        lane->open_longest_ns = ns;
        to->what = item->what;
        to->shape = item->shape;
    }
    lane->open_count++;
}

void ct_lane_add(struct ct_lane *lane, const struct ct_lane_item *item)
{
    bool near = lane->open_count && item->start_ns >= lane->open.start_ns &&
                item->end_ns - lane->open.start_ns <= lane->resolution_ns;
    lane->records++;
    lane->busy_ns += item->end_ns - item->start_ns;
    if (near)
        join(lane, item);
    else
        open_item(lane, item);
}

void ct_lane_finish(struct ct_lane *lane)
{
    put_open(lane);
}

void ct_lane_free(struct ct_lane *lane)
{
    for (int i = 0; i < CT_LANE_COLUMNS; i++)
        ct_string_free(&lane->columns[i]);
}
