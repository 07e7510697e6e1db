/* SPDX-License-Identifier: MIT */
#include "report/device/sensor_sums.h"

#include <stdlib.h>
#include <string.h>

#include "report/profile/merge.h"

static void add_row(struct ct_file_sensor *to, const struct ct_file_sensor *from)
{
    if (from->samples) {
        to->least = to->samples ? fmin(to->least, from->least) : from->least;
        to->most = to->samples ? fmax(to->most, from->most) : from->most;
    }
    if (!to->processes || to->state) /* one that reads it is enough */
        to->state = from->state;
    to->result = from->result ? from->result : to->result;
    to->processes += from->processes;
    to->limit = fmax(to->limit, from->limit);
    to->sum += from->sum;
    to->clock_sum += from->clock_sum;
    ct_merge_add_to(&to->samples, from->samples);
    ct_merge_add_to(&to->time_ns, from->time_ns);
    ct_merge_add_to(&to->calls, from->calls);
    ct_merge_add_to(&to->call_ns, from->call_ns);
    to->longest_call_ns = ct_max(to->longest_call_ns, from->longest_call_ns);
    for (size_t i = 0; i < sizeof(to->part_ns) / sizeof(to->part_ns[0]); i++)
        ct_merge_add_to(&to->part_ns[i], from->part_ns[i]);
}

void ct_merged_sensors_add(struct ct_merged_sensors *m, const struct ct_summary *s,
                           const uint32_t *device_map)
{
    for (size_t i = 0; i < s->sensors_count; i++) {
        const struct ct_file_sensor *from = &s->sensors[i];
        uint32_t key[] = {device_map[from->device], from->kind};
        uint32_t at = ct_key_table_add(&m->keys, key, sizeof(key));
        m->rows = ct_memory_grow(m->rows, &m->size, (size_t)at + 1, sizeof(*m->rows));
        m->rows[at].device = key[0];
        m->rows[at].kind = from->kind;
        add_row(&m->rows[at], from);
    }
}

void ct_merged_sensors_free(struct ct_merged_sensors *m)
{
    ct_key_table_free(&m->keys);
    free(m->rows);
    memset(m, 0, sizeof(*m));
}

const struct ct_file_sensor *ct_merged_sensors_find(const struct ct_merged_sensors *m,
                                                    uint32_t device, enum ct_sensor kind)
{
    for (uint32_t i = 0; i < m->keys.count; i++)
        if (m->rows[i].device == device && m->rows[i].kind == (uint32_t)kind)
            return &m->rows[i];
    return NULL;
}

const char *ct_sensor_name(uint32_t kind)
{
    static const char *const names[] = {
#define X(id, text, unit) text,
        CT_SENSORS(X)
#undef X
    };
    return kind < CT_SENSOR_COUNT ? names[kind] : "of a new kind";
}

const char *ct_sensor_unit(uint32_t kind)
{
    static const char *const units[] = {
#define X(id, text, unit) unit,
        CT_SENSORS(X)
#undef X
    };
    return kind < CT_SENSOR_COUNT ? units[kind] : "";
}

const char *ct_sensor_state_text(uint32_t state)
{
    static const char *const texts[] = {
#define X(id, text) text,
        CT_SENSOR_STATES(X)
#undef X
    };
    return state < CT_SENSORS_COUNT ? texts[state] : "for a new reason";
}
