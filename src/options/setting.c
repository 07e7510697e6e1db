/* SPDX-License-Identifier: MIT */
#include "options/setting.h"

#include <arpa/inet.h>

#include "base/config.h"
#include "base/pattern.h"
#include "base/text.h"
#include "format/trace_write.h"

#define WATCHDOG_MOST 1000000 /* above it no number is meant */

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
    ct_config.print_asked = s != ct_settings[CT_SETTING_PRINT].standard;
    return read_on_off(s, &ct_config.print);
}

static bool set_TIME(const char *s)
{
    ct_config.time_all = ct_streq(s, "all");
    return ct_config.time_all || ct_streq(s, "auto");
}

static bool set_SAMPLE(const char *s)
{
    return read_number(s, 1, 1000000000, &ct_config.sample);
}

/* A percentage with at most four decimals and perhaps a percent sign, in millionths. */
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

/* One launch in so many is timed if no number is given. */
#define GRAPH_NODES_EVERY 100

static bool set_GRAPH_NODES(const char *s)
{
    ct_config.graph_nodes_auto = ct_streq(s, "auto");
    ct_config.graph_nodes = ct_streq(s, "on") || ct_config.graph_nodes_auto ? GRAPH_NODES_EVERY : 0;
    return ct_config.graph_nodes || ct_streq(s, "off") ||
           read_number(s, 1, 1000000, &ct_config.graph_nodes);
}

static bool set_START(const char *s)
{
    return read_on_off(s, &ct_config.start);
}

static bool set_CAPTURE(const char *s)
{
    ct_config.capture = ct_streq(s, "none") ? NULL : s;
    return *s && *s != '@';
}

static bool set_KERNELS(const char *s)
{
    ct_config.kernels = ct_streq(s, "*") ? NULL : s;
    bool good = *s != '\0';
    while (*s && good) {
        const char *pattern = s += *s == '!';
        while (*s && *s != ',')
            s++;
        good = ct_pattern_is_one(pattern, (size_t)(s - pattern));
        s += *s == ',';
    }
    return good;
}

/* Whether s is numbers with commas between. */
static bool is_list_of_numbers(const char *s)
{
    bool digit = false;
    for (; *s && (*s != ',' || digit); s++) {
        if (*s != ',' && (*s < '0' || *s > '9'))
            return false;
        digit = *s != ',';
    }
    return digit && !*s;
}

static bool set_DEVICES(const char *s)
{
    ct_config.devices = ct_streq(s, "all") ? NULL : s;
    return !ct_config.devices || is_list_of_numbers(s);
}

static bool set_RANKS(const char *s)
{
    ct_config.ranks = ct_streq(s, "all") ? NULL : s;
    return !ct_config.ranks || is_list_of_numbers(s);
}

static bool set_ACTIVITIES(const char *s)
{
    bool *without[] = {&ct_config.without_gpu, &ct_config.without_api, &ct_config.without_memory};
    static const char *const names[] = {"gpu", "api", "memory"};
    for (unsigned i = 0; i < 3; i++)
        *without[i] = true;
    for (const char *end; *s; s = *end ? end + 1 : end) {
        unsigned i = 0;
        for (end = s; *end && *end != ','; end++)
            ;
        while (i < 3 && (ct_strlen(names[i]) != (size_t)(end - s) || !ct_starts_with(s, names[i])))
            i++;
        if (i == 3 || (*end && !end[1]))
            return false;
        *without[i] = false;
    }
    return !ct_config.without_gpu || !ct_config.without_api || !ct_config.without_memory;
}

static bool set_ARGUMENTS(const char *s)
{
    return read_on_off(s, &ct_config.arguments);
}

static bool set_CHILDREN(const char *s)
{
    bool on, ok = read_on_off(s, &on);
    ct_config.alone = !on;
    return ok;
}

static bool set_RUN(const char *s)
{
    ct_config.run = ct_streq(s, "none") ? NULL : s;
    return *s != '\0';
}

static bool set_UNIFIED(const char *s)
{
    ct_config.unified = ct_streq(s, "per-process-device");
    return ct_config.unified || ct_streq(s, "off");
}

static bool set_SENSORS(const char *s)
{
    return read_on_off(s, &ct_config.sensors);
}

static bool set_STACKS(const char *s)
{
    static const char *const kinds[] = {
        [CT_STACKS_OFF] = "off", [CT_STACKS_PYTHON] = "python", [CT_STACKS_NATIVE] = "native"};
    for (unsigned i = 0; i < ct_countof(kinds); i++) {
        ct_config.stacks = (enum ct_stack_kind)i;
        if (ct_streq(s, kinds[i]))
            return true;
    }
    ct_config.stacks = CT_STACKS_OFF;
    return false;
}

/* "10x", "30s", or both with a comma between. */
static bool set_WATCHDOG(const char *s)
{
    ct_config.watchdog_factor = 0;
    ct_config.watchdog_ns = 0;
    if (ct_streq(s, "off"))
        return true;
    for (;; s++) {
        uint64_t n = 0;
        while (*s >= '0' && *s <= '9' && n < WATCHDOG_MOST)
            n = 10 * n + (uint64_t)(*s++ - '0');
        if (!n || n >= WATCHDOG_MOST || (*s != 'x' && *s != 's'))
            return false;
        if (*s == 'x')
            ct_config.watchdog_factor = (uint32_t)n;
        else
            ct_config.watchdog_ns = n * 1000000000u;
        if (*++s != ',')
            return !*s;
    }
}

static bool set_CONTROL(const char *s)
{
    ct_config.control_asked = s != ct_settings[CT_SETTING_CONTROL].standard;
    return read_on_off(s, &ct_config.control);
}

static bool set_LOG(const char *s)
{
    return read_number(s, 0, 2, &ct_config.log_level);
}

static bool set_EXIT_TIMEOUT(const char *s)
{
    return read_number(s, 0, 3600, &ct_config.exit_timeout_s);
}

static bool set_EVENTS(const char *s)
{
    return read_number(s, 64, CT_EVENTS_MOST, &ct_config.events);
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

static bool set_TRACE(const char *s)
{
    bool on = true;
    bool is_name = !read_on_off(s, &on);
    ct_config.trace = is_name ? s : on ? "1" : NULL;
    return *s != '\0';
}

/* Bytes, or 4M and the like. */
static bool set_TRACE_SIZE(const char *s)
{
    static const char units[] = "KMG";
    char digits[24];
    struct ct_text t = ct_text_in(digits, sizeof(digits));
    unsigned shift = 0;
    while (*s >= '0' && *s <= '9')
        ct_text_add_char(&t, *s++);
    for (unsigned i = 0; units[i]; i++)
        if ((*s & ~0x20) == units[i])
            shift = 10 * (i + 1);
    uint64_t n;
    if (s[shift != 0] || !ct_parse_u64(digits, &n) || n > (uint64_t)INT64_MAX >> shift)
        return false;
    ct_config.trace_bytes = n << shift;
    return ct_config.trace_bytes >= CT_TRACE_LEAST_BYTES;
}

/* PORT on the loopback, or ADDRESS:PORT, IPv6 in brackets; ends at the next destination. */
static bool read_address(const char **s, struct ct_config_address *a)
{
    char text[64], *port = NULL, *ip = text;
    struct ct_text t = ct_text_in(text, sizeof(text));
    uint64_t n;
    while (**s && **s != ',')
        ct_text_add_char(&t, *(*s)++);
    for (size_t i = 0; i < t.len; i++)
        port = text[i] == ':' ? &text[i] : port;
    a->is_ipv6 = port && *text == '[' && port[-1] == ']';
    if (a->is_ipv6)
        ip++, port[-1] = '\0';
    if (port)
        *port++ = '\0';
    const char *wanted = !port || ct_streq(ip, "localhost") ? "127.0.0.1" : ip;
    if (ct_text_full(&t) || !ct_parse_u64(port ? port : text, &n) || n > UINT16_MAX ||
        inet_pton(a->is_ipv6 ? AF_INET6 : AF_INET, wanted, a->ip) != 1)
        return false;
    a->port = (uint16_t)n;
    return a->wanted = true;
}

/* Copies the directory up to the next destination. */
static bool read_directory(const char **s)
{
    static char directory[4096];
    struct ct_text t = ct_text_in(directory, sizeof(directory));
    while (**s && **s != ',')
        ct_text_add_char(&t, *(*s)++);
    ct_config.metrics_directory = directory;
    return t.len && !ct_text_full(&t);
}

static bool read_destination(const char **s)
{
    static const char textfile[] = "textfile:", openmetrics[] = "openmetrics:";
    if (ct_starts_with(*s, textfile)) {
        *s += sizeof(textfile) - 1;
        return read_directory(s);
    }
    if (!ct_starts_with(*s, openmetrics))
        return false;
    *s += sizeof(openmetrics) - 1;
    return read_address(s, &ct_config.metrics);
}

static bool set_METRICS(const char *s)
{
    ct_config.metrics_directory = NULL;
    ct_config.metrics.wanted = false;
    if (ct_streq(s, "none"))
        return true;
    while (read_destination(&s)) {
        if (!*s)
            return true;
        s++;
    }
    return false;
}

static bool set_BRACKETS(const char *s)
{
    ct_config.brackets = ct_streq(s, "none") ? NULL : s;
    return *s != '\0';
}

const struct ct_setting ct_settings[CT_SETTINGS] = {
#define LIBRARY(id, variable, argument, standard) {variable, argument, standard, set_##id},
#define LAUNCHER(id, variable, argument, standard)
#define REPORT(id, variable, argument, standard)
#define CTL(id, variable, argument, standard)
#define CT_OPTION(who, id, variable, option, letter, argument, standard, help)                     \
    who(id, variable, argument, standard)
#include "options/options.def"
#undef LIBRARY
#undef LAUNCHER
#undef REPORT
#undef CTL
};
