/* SPDX-License-Identifier: MIT */
#include "page/page_sensors.h"

#include "page/json.h"

static json_t *sensor_of(const struct ct_merged *m, const struct ct_file_sensor *s)
{
    json_t *to = ct_json_object();
    ct_json_count(to, "gpu", m->devices[s->device].sum.ordinal);
    ct_json_text(to, "kind", ct_sensor_name(s->kind));
    ct_json_text(to, "unit", ct_sensor_unit(s->kind));
    ct_json_real(to, "mean", ct_sensor_mean(s));
    ct_json_real(to, "least", s->least);
    ct_json_real(to, "most", s->most);
    if (s->limit > 0)
        ct_json_real(to, "limit", s->limit);
    ct_json_count(to, "samples", s->samples);
    if (!ct_sensor_is_reason(s))
        return to;
    ct_json_flag(to, "reason", true);
    ct_json_real(to, "clock", ct_sensor_clock(s));
    return to;
}

json_t *ct_page_sensors(const struct ct_merged *m)
{
    json_t *all = ct_json_array();
    for (uint32_t i = 0; i < m->sensors.keys.count; i++) {
        const struct ct_file_sensor *s = &m->sensors.rows[i];
        if (s->time_ns && isfinite(s->sum) && (!ct_sensor_is_reason(s) || s->sum > 0))
            ct_json_append(all, sensor_of(m, s));
    }
    return all;
}
