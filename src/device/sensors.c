/* SPDX-License-Identifier: MIT */
#include "device/sensors.h"

#include "base/text.h"
#include "system/clock.h"

#define PARTS ct_countof(((struct ct_file_sensor *)0)->part_ns)
#define UUID_TEXT_BYTES 48

/* Results of a call: bits of sensors that it has read, and their values. */
struct reading {
    uint32_t known;
    double value[CT_SENSOR_COUNT];
};

_Static_assert(CT_SENSOR_COUNT <= 32, "a bit for each");

static void put(struct reading *r, enum ct_sensor kind, double value)
{
    r->value[kind] = value;
    r->known |= 1u << kind;
}

/* ---- calls ---- */

static int ask_clock(struct ct_sensors *s, const struct ct_nvml *nvml, struct reading *r)
{
    unsigned mhz = 0;
    int result =
        nvml->clock ? nvml->clock(s->handle, CT_NVML_SM, &mhz) : CT_NVML_FUNCTION_NOT_FOUND;
    s->clock_mhz = result ? 0 : mhz;
    if (!result)
        put(r, CT_SENSOR_SM_CLOCK, mhz);
    return result;
}

static int ask_reasons(struct ct_sensors *s, const struct ct_nvml *nvml, struct reading *r)
{
    unsigned long long mask = 0;
    int result = nvml->reasons       ? nvml->reasons(s->handle, &mask)
                 : nvml->old_reasons ? nvml->old_reasons(s->handle, &mask)
                                     : CT_NVML_FUNCTION_NOT_FOUND;
    for (unsigned i = CT_SENSOR_FIRST_REASON; !result && i < CT_SENSOR_COUNT; i++)
        put(r, i, mask >> (i - CT_SENSOR_FIRST_REASON) & 1);
    return result;
}

static int ask_power(struct ct_sensors *s, const struct ct_nvml *nvml, struct reading *r)
{
    unsigned mw = 0;
    int result = nvml->power ? nvml->power(s->handle, &mw) : CT_NVML_FUNCTION_NOT_FOUND;
    if (!result)
        put(r, CT_SENSOR_POWER, mw / 1e3);
    return result;
}

/* A difference of the counter is of the time between: joules by it are watts. */
static int ask_energy(struct ct_sensors *s, const struct ct_nvml *nvml, struct reading *r)
{
    unsigned long long mj = 0;
    int result = nvml->energy ? nvml->energy(s->handle, &mj) : CT_NVML_FUNCTION_NOT_FOUND;
    if (result)
        return result;
    if (mj >= s->energy_mj) /* else the driver has been loaded anew */
        put(r, CT_SENSOR_ENERGY, (double)(mj - s->energy_mj));
    s->energy_mj = mj;
    return result;
}

static int ask_temperature(struct ct_sensors *s, const struct ct_nvml *nvml, struct reading *r)
{
    unsigned c = 0;
    int result = nvml->temperature ? nvml->temperature(s->handle, CT_NVML_SENSOR_GPU, &c)
                                   : CT_NVML_FUNCTION_NOT_FOUND;
    if (!result)
        put(r, CT_SENSOR_TEMPERATURE, c);
    return result;
}

static int ask_memory(struct ct_sensors *s, const struct ct_nvml *nvml, struct reading *r)
{
    struct ct_nvml_memory memory = {0, 0, 0};
    int result = nvml->memory ? nvml->memory(s->handle, &memory) : CT_NVML_FUNCTION_NOT_FOUND;
    if (result)
        return result;
    s->sensor[CT_SENSOR_MEMORY].limit = (double)memory.total;
    put(r, CT_SENSOR_MEMORY, (double)memory.used);
    return result;
}

static int ask_utilization(struct ct_sensors *s, const struct ct_nvml *nvml, struct reading *r)
{
    struct ct_nvml_utilization u = {0, 0};
    int result = nvml->utilization ? nvml->utilization(s->handle, &u) : CT_NVML_FUNCTION_NOT_FOUND;
    if (result)
        return result;
    put(r, CT_SENSOR_KERNEL_TIME, u.gpu);
    put(r, CT_SENSOR_MEMORY_TIME, u.memory);
    return result;
}

static void swap_samples(struct ct_sensors *s)
{
    ct_nvml_sample older = s->sample[0];
    s->sample[0] = s->sample[1];
    s->sample[1] = older;
}

static int ask_metrics(const struct ct_sensors *s, const struct ct_nvml *nvml, struct reading *r)
{
    static const struct {
        enum ct_sensor kind;
        unsigned id;
    } of[] = {{CT_SENSOR_SM_ACTIVITY, CT_NVML_GPM_SM},
              {CT_SENSOR_TENSOR_ACTIVITY, CT_NVML_GPM_TENSOR},
              {CT_SENSOR_DRAM_ACTIVITY, CT_NVML_GPM_DRAM}};
    static struct ct_nvml_gpm gpm; /* one thread reads */
    gpm = (struct ct_nvml_gpm){.version = CT_NVML_GPM_VERSION,
                               .count = ct_countof(of),
                               .older = s->sample[1],
                               .newer = s->sample[0]};
    for (unsigned i = 0; i < ct_countof(of); i++)
        gpm.metric[i].id = of[i].id;
    int result = nvml->gpm_metrics(&gpm);
    for (unsigned i = 0; !result && i < ct_countof(of); i++)
        if (!gpm.metric[i].result)
            put(r, of[i].kind, gpm.metric[i].value);
    return result;
}

/* Rates are of the time between two samples, which is the period of reading. */
static int ask_gpm(struct ct_sensors *s, const struct ct_nvml *nvml, struct reading *r)
{
    if (!s->sample[0])
        return CT_NVML_NOT_SUPPORTED;
    swap_samples(s);
    int result = nvml->gpm_sample(s->handle, s->sample[0]);
    bool has_older = s->has_sample;
    s->has_sample = !result;
    return !result && has_older ? ask_metrics(s, nvml, r) : result;
}

/* Sensors are noted with the call from the first one on. */
static const struct call {
    int (*ask)(struct ct_sensors *s, const struct ct_nvml *nvml, struct reading *r);
    enum ct_sensor first, last;
} calls[] = {
    {ask_clock, CT_SENSOR_SM_CLOCK, CT_SENSOR_SM_CLOCK},
    {ask_reasons, CT_SENSOR_FIRST_REASON, CT_SENSOR_COUNT - 1},
    {ask_power, CT_SENSOR_POWER, CT_SENSOR_POWER},
    {ask_energy, CT_SENSOR_ENERGY, CT_SENSOR_ENERGY},
    {ask_temperature, CT_SENSOR_TEMPERATURE, CT_SENSOR_TEMPERATURE},
    {ask_memory, CT_SENSOR_MEMORY, CT_SENSOR_MEMORY},
    {ask_utilization, CT_SENSOR_KERNEL_TIME, CT_SENSOR_MEMORY_TIME},
    {ask_gpm, CT_SENSOR_SM_ACTIVITY, CT_SENSOR_DRAM_ACTIVITY},
};

_Static_assert(ct_countof(calls) == CT_SENSORS_CALLS, "one due time for each");

/* ---- sums ---- */

static void widen(struct ct_file_sensor *f, double value)
{
    f->least = f->samples && f->least < value ? f->least : value;
    f->most = f->samples && f->most > value ? f->most : value;
}

static unsigned part_of(const struct ct_file_sensor *f, double value)
{
    double part = value > 0 ? PARTS * value / f->limit : 0;
    return part < PARTS ? (unsigned)part : PARTS - 1;
}

/* The first reading is of no time. A reading of a counter has its difference for that time. */
static void add(struct ct_sensors *s, enum ct_sensor kind, double value, uint64_t ns)
{
    struct ct_file_sensor *f = &s->sensor[kind];
    if (kind == CT_SENSOR_ENERGY && ns)
        value *= 1e6 / (double)ns; /* mJ by ns */
    if (kind != CT_SENSOR_ENERGY || ns) {
        widen(f, value);
        f->samples++;
        s->last[kind] = value;
        s->last_known |= 1u << kind;
    }
    f->time_ns += ns;
    f->sum += value * (double)ns;
    if (f->limit > 0)
        f->part_ns[part_of(f, value)] += ns;
    if (kind >= CT_SENSOR_FIRST_REASON && value > 0)
        f->clock_sum += s->clock_mhz * (double)ns;
}

static void note_call(struct ct_file_sensor *f, int result, uint64_t ns)
{
    f->calls++;
    f->call_ns += ns;
    f->longest_call_ns = ct_max(f->longest_call_ns, ns);
    if (result)
        f->result = (uint32_t)result;
}

static bool is_final(int result)
{
    return result == CT_NVML_NOT_SUPPORTED || result == CT_NVML_FUNCTION_NOT_FOUND ||
           result == CT_NVML_ARGUMENT_VERSION_MISMATCH;
}

static bool is_end(int result)
{
    return result == CT_NVML_DRIVER_NOT_LOADED || result == CT_NVML_GPU_IS_LOST ||
           result == CT_NVML_LIB_RM_VERSION_MISMATCH;
}

static void ask(struct ct_sensors *s, const struct ct_nvml *nvml, unsigned number)
{
    const struct call *c = &calls[number];
    struct reading r = {.known = 0};
    uint64_t begin_ns = ct_clock_monotonic_ns();
    int result = c->ask(s, nvml, &r);
    uint64_t end_ns = ct_clock_monotonic_ns(), took_ns = end_ns - begin_ns;
    uint64_t before_ns = s->call[number].read_ns;
    for (unsigned kind = c->first; kind <= c->last; kind++) {
        note_call(&s->sensor[kind], result, took_ns);
        if (r.known >> kind & 1)
            add(s, kind, r.value[kind], before_ns ? begin_ns - before_ns : 0);
    }
    bool rarely = result || ct_min(took_ns, s->call[number].took_ns) > CT_SENSORS_SLOW_NS;
    s->call[number].took_ns = took_ns;
    if (!result)
        s->call[number].read_ns = begin_ns;
    s->call[number].due_ns = is_final(result) ? UINT64_MAX
                             : rarely         ? end_ns + CT_SENSORS_RARELY_NS
                                              : 0;
    if (is_end(result))
        s->state = CT_SENSORS_LOST;
}

void ct_sensors_read(struct ct_sensors *s, const struct ct_nvml *nvml, bool last)
{
    for (unsigned i = 0; i < CT_SENSORS_CALLS && s->state == CT_SENSORS_READ; i++) {
        bool asked = last ? calls[i].ask == ask_energy && s->call[i].due_ns != UINT64_MAX
                          : ct_clock_monotonic_ns() >= s->call[i].due_ns;
        if (asked)
            ask(s, nvml, i);
    }
}

/* ---- the device ---- */

/* "GPU-01234567-89ab-cdef-0123-456789abcdef" */
static void spell_uuid(char to[UUID_TEXT_BYTES], const char *kind, const uint8_t uuid[16])
{
    static const char hex[] = "0123456789abcdef";
    struct ct_text t = ct_text_in(to, UUID_TEXT_BYTES);
    ct_text_add(&t, kind);
    for (unsigned i = 0; i < 16; i++) {
        ct_text_add(&t, i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "");
        ct_text_add_char(&t, hex[uuid[i] >> 4]);
        ct_text_add_char(&t, hex[uuid[i] & 15]);
    }
}

static enum ct_sensor_state find(struct ct_sensors *s, const struct ct_nvml *nvml,
                                 const uint8_t uuid[16])
{
    char text[UUID_TEXT_BYTES];
    int result = CT_NVML_FUNCTION_NOT_FOUND;
    spell_uuid(text, "GPU-", uuid);
    if (nvml->by_uuid)
        result = nvml->by_uuid(text, &s->handle);
    s->sensor[0].result = (uint32_t)result;
    if (!result)
        return CT_SENSORS_READ;
    if (is_end(result))
        return CT_SENSORS_LOST;
    spell_uuid(text, "MIG-", uuid);
    return nvml->by_uuid && !nvml->by_uuid(text, &s->handle) ? CT_SENSORS_PART
                                                             : CT_SENSORS_NOT_FOUND;
}

static void ask_limits(struct ct_sensors *s, const struct ct_nvml *nvml)
{
    unsigned mhz = 0, mw = 0;
    if (nvml->most_clock && !nvml->most_clock(s->handle, CT_NVML_SM, &mhz))
        s->sensor[CT_SENSOR_SM_CLOCK].limit = mhz;
    if (nvml->power_limit && !nvml->power_limit(s->handle, &mw))
        s->sensor[CT_SENSOR_POWER].limit = mw / 1e3;
    for (unsigned i = CT_SENSOR_KERNEL_TIME; i <= CT_SENSOR_DRAM_ACTIVITY; i++)
        s->sensor[i].limit = 100;
}

static void close_gpm(struct ct_sensors *s, const struct ct_nvml *nvml)
{
    for (unsigned i = 0; i < 2; i++) {
        if (s->sample[i])
            nvml->gpm_free(s->sample[i]);
        s->sample[i] = NULL;
    }
}

static void open_gpm(struct ct_sensors *s, const struct ct_nvml *nvml)
{
    struct ct_nvml_gpm_support support = {.version = CT_NVML_GPM_VERSION};
    if (!nvml->gpm_support || !nvml->gpm_alloc || !nvml->gpm_free || !nvml->gpm_sample ||
        !nvml->gpm_metrics || nvml->gpm_support(s->handle, &support) || !support.is_supported)
        return;
    if (nvml->gpm_alloc(&s->sample[0]) || nvml->gpm_alloc(&s->sample[1]))
        close_gpm(s, nvml);
}

void ct_sensors_open(struct ct_sensors *s, const struct ct_nvml *nvml, const uint8_t uuid[16])
{
    s->is_open = true;
    s->state = find(s, nvml, uuid);
    if (s->state != CT_SENSORS_READ)
        return;
    ask_limits(s, nvml);
    open_gpm(s, nvml);
}

void ct_sensors_close(struct ct_sensors *s, const struct ct_nvml *nvml)
{
    close_gpm(s, nvml);
    s->is_open = false;
}
