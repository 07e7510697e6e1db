/* SPDX-License-Identifier: MIT */
#include "preload/options.h"

#include <stdlib.h>

#include "base/config.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"

static unsigned log_level;

static bool read_on_off(const char *s, bool *value)
{
    *value = ct_streq(s, "on") || ct_streq(s, "1");
    return *value || ct_streq(s, "off") || ct_streq(s, "0");
}

static bool read_number(const char *s, uint64_t lowest, uint64_t highest, uint32_t *value)
{
    uint64_t n;
    if (!ct_parse_u64(s, &n) || n < lowest || n > highest)
        return false;
    *value = (uint32_t)n;
    return true;
}

static bool set_OUTPUT(const char *s)
{
    ct_config.output = s;
    return *s != '\0';
}

static bool set_PRINT(const char *s)
{
    return read_on_off(s, &ct_config.print);
}

static bool set_SAMPLE(const char *s)
{
    return read_number(s, 1, 1000000000, &ct_config.sample);
}

/* At most four decimals and perhaps a percent sign, in millionths. */
static bool read_percent(const char *s, uint32_t *ppm)
{
    uint64_t value = 0, unit = 10000;
    for (; *s >= '0' && *s <= '9' && value <= 100 * 10000; s++)
        value = 10 * value + (uint64_t)(*s - '0') * unit;
    if (*s == '.')
        for (s++; *s >= '0' && *s <= '9' && unit > 1; s++)
            value += (uint64_t)(*s - '0') * (unit /= 10);
    s += *s == '%';
    *ppm = (uint32_t)value;
    return !*s && value > 0 && value <= 100 * 10000;
}

static bool set_BUDGET(const char *s)
{
    ct_config.budget_ppm = 0;
    return ct_streq(s, "off") || read_percent(s, &ct_config.budget_ppm);
}

static bool set_START(const char *s)
{
    return read_on_off(s, &ct_config.start);
}

static bool set_KERNELS(const char *s)
{
    ct_config.kernels = ct_streq(s, "*") ? NULL : s;
    return *s != '\0';
}

static bool set_LOG(const char *s)
{
    return read_number(s, 0, 2, &log_level);
}

static bool set_EXIT_TIMEOUT(const char *s)
{
    return read_number(s, 0, 3600, &ct_config.exit_timeout_s);
}

static bool set_EVENTS(const char *s)
{
    return read_number(s, 64, 1048576, &ct_config.events);
}

static bool set_REPORT(const char *s)
{
    ct_config.report = s;
    return *s != '\0';
}

static bool set_FORCE(const char *s)
{
    return read_on_off(s, &ct_config.force);
}

static bool set_CALIBRATE(const char *s)
{
    bool on;
    ct_config.calibrate = CT_CALIBRATE_AUTO;
    if (ct_streq(s, "auto"))
        return true;
    if (!read_on_off(s, &on))
        return false;
    ct_config.calibrate = on ? CT_CALIBRATE_ON : CT_CALIBRATE_OFF;
    return true;
}

static bool set_BRACKETS(const char *s)
{
    ct_config.brackets = ct_streq(s, "none") ? NULL : s;
    return *s != '\0';
}

static const struct {
    const char *name;
    const char *standard;
    bool (*set)(const char *s);
} options[] = {
#define CT_OPTION(id, name, argument, standard, help) {name, standard, set_##id},
#include "preload/options.def"
};

/* The level first: it decides what is said about the others. */
static void read_level(void)
{
    const char *s = getenv("CUTRACE_LOG");
    log_level = 1;
    if (s)
        set_LOG(s);
    ct_log_set_level(log_level);
}

void ct_options_read(void)
{
    read_level();
    for (unsigned i = 0; i < ct_countof(options); i++) {
        const char *s = getenv(options[i].name);
        if (s)
            s = ct_intern(s, ct_strlen(s)); /* the program may change its environment */
        if (s && options[i].set(s))
            continue;
        options[i].set(options[i].standard);
        if (s) {
            char value[200];
            struct ct_text t = ct_text_in(value, sizeof(value));
            ct_text_add(&t, s);
            ct_text_add(&t, "' is not possible, using ");
            ct_text_add(&t, options[i].standard);
            ct_log(1, options[i].name, "='", value);
        }
    }
    ct_log_set_level(log_level);
}
