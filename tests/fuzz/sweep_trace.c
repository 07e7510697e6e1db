/* SPDX-License-Identifier: MIT */
/*
 * What the encoder makes, with numbers, lengths and bytes changed, and read: SWEEP_ROUNDS times
 * 5,000 inputs, the same each time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cutrace/trace.h"
#include "format/varint.h"
#include "mutate.h"
#include "trace_one.h"

#define INPUTS 5000
#define MOST 4096

static uint8_t good[MOST], bad[MOST];

static uint8_t *put_numbers(uint8_t *to, const uint64_t *numbers, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        to = ct_varint_put(to, numbers[i]);
    return to;
}

static uint8_t *put_text(uint8_t *to, const char *text)
{
    to = ct_varint_put(to, strlen(text));
    memcpy(to, text, strlen(text));
    return to + strlen(text);
}

/* Begins a block or a definition; its length comes when it ends. */
static uint8_t *end_block(uint8_t *block, uint8_t *end)
{
    size_t bytes = (size_t)(end - block) - 3;
    block[1] = (uint8_t)bytes;
    block[2] = (uint8_t)(bytes >> 8);
    return end;
}

static uint8_t *define(uint8_t *to, uint64_t kind, unsigned numbers, unsigned uuid,
                       const char *text)
{
    uint8_t body[200], *end = body;
    for (unsigned i = 0; i < numbers; i++)
        end = ct_varint_put(end, i ? i - 1 : 1);
    memset(end, 7, uuid);
    end += uuid;
    if (text)
        end = put_text(end, text);
    to = ct_varint_put(ct_varint_put(to, kind), (uint64_t)(end - body));
    memcpy(to, body, (size_t)(end - body));
    return to + (end - body);
}

static uint8_t *put_definitions(uint8_t *to)
{
    uint8_t *block = to;
    *to = CT_TRACE_DEFINITIONS;
    to = define(to + 3, CT_TRACE_DEFINE_PROCESS, 4, 0, "a command");
    to = define(to, CT_TRACE_DEFINE_DEVICE, 1, 17, "gpu");
    uint8_t row[] = {CT_TRACE_DEFINE_ROW, 8, 1, CT_ROW_KERNEL, 0, 1, 0, 0, 1, 'k'};
    uint8_t stream[] = {CT_TRACE_DEFINE_STREAM, 10, 1, 1, 0, 0, 0, 0, 1, 's', 1, 'c'};
    memcpy(to, row, sizeof(row));
    memcpy(to + sizeof(row), stream, sizeof(stream));
    to += sizeof(row) + sizeof(stream);
    to = define(to, CT_TRACE_DEFINE_SHAPE, 8, 0, NULL);
    to = define(to, CT_TRACE_DEFINE_API, 2, 0, "cuInit");
    to = define(to, CT_TRACE_DEFINE_THREAD, 2, 0, "main");
    uint8_t label[] = {CT_TRACE_DEFINE_LABEL, 10, 1, 0, 0, 1, 1, 'd', 1, 'n', 1, 'c'};
    memcpy(to, label, sizeof(label));
    return end_block(block, to + sizeof(label));
}

/* Three records, whose columns are all three bytes long. */
static uint8_t *put_records(uint8_t *to, uint8_t type, const uint64_t *values, unsigned columns)
{
    uint8_t *block = to;
    *to = type;
    to = put_numbers(to + 3, (const uint64_t[]){3, columns}, 2);
    for (unsigned i = 0; i < columns; i++)
        to = ct_varint_put(to, 3);
    for (unsigned i = 0; i < 3 * columns; i++)
        to = ct_varint_put(to, values[i / 3]);
    return end_block(block, to);
}

static size_t make(void)
{
    static const uint64_t ops[CT_TRACE_OP_COLUMNS] = {100, 10, 1, 1, 1, 2, 1, 5, 1, 9};
    static const uint64_t calls[CT_TRACE_CALL_COLUMNS] = {100, 10, 1, 1, 2, 0};
    static const uint64_t ranges[CT_TRACE_RANGE_COLUMNS] = {100, 1, 1, CT_TRACE_RANGE_NUMBERED, 7};
    uint8_t *to = put_definitions(good);
    to = put_records(to, CT_TRACE_OPERATIONS, ops, CT_TRACE_OP_COLUMNS);
    to = put_records(to, CT_TRACE_CALLS, calls, CT_TRACE_CALL_COLUMNS);
    to = put_records(to, CT_TRACE_RANGES, ranges, CT_TRACE_RANGE_COLUMNS);
    return (size_t)(to - good);
}

/* One place or several get another byte, or an edge's bytes. */
static void change(size_t bytes, uint64_t *state)
{
    for (uint64_t n = 1 + mutate_random(state) % 3; n; n--) {
        size_t at = mutate_random(state) % bytes;
        uint8_t number[CT_VARINT_MOST];
        size_t length =
            (size_t)(ct_varint_put(number, mutate_edge((unsigned)mutate_random(state) & 0xff)) -
                     number);
        if (mutate_random(state) % 2)
            bad[at] = (uint8_t)mutate_random(state);
        else
            memcpy(bad + at, number, length < bytes - at ? length : bytes - at);
    }
}

int main(void)
{
    const char *text = getenv("SWEEP_ROUNDS");
    unsigned long inputs = INPUTS * (text ? strtoul(text, NULL, 10) : 1);
    size_t bytes = make();
    uint64_t state = 1;
    trace_one(good, bytes);
    for (unsigned long i = 0; i < inputs; i++) {
        memcpy(bad, good, bytes);
        change(bytes, &state);
        trace_one(bad, mutate_random(&state) % 4 ? bytes : mutate_random(&state) % bytes);
    }
    printf("%lu inputs\n", inputs);
    return 0;
}
