/* SPDX-License-Identifier: MIT */
#include "report/reports/headline.h"

#include "report/host_memory.h"
#include "report/reports/advice.h"
#include "report/units.h"

#define LEAST_PERCENT 0.1 /* smaller parts are not named */

/* Adds ": NAME 1.2%" or ", NAME 1.2%". */
static void add_part(struct ct_string *text, unsigned *parts, const char *name, double percent)
{
    if (percent < LEAST_PERCENT)
        return;
    ct_string_printf(text, "%s%s %.1f%%", (*parts)++ ? ", " : ": ", name, percent);
}

static void add_busy(struct ct_string *text, const struct ct_headline *h)
{
    unsigned parts = 0;
    char time[CT_UNITS_BYTES];
    ct_units_time(time, h->time_ns, 8);
    ct_string_printf(text, "The GPU was busy %.1f%% of %s observed", h->busy_percent, time);
    add_part(text, &parts, "kernels", h->compute_percent);
    add_part(text, &parts, "copies", h->copy_percent);
}

static void add_idle(struct ct_string *text, const struct ct_headline *h)
{
    static const char *const reasons[CT_IDLE_COUNT] = {
        [CT_IDLE_HOST] = "nothing submitted",
        [CT_IDLE_SYNC] = "nothing submitted after the host had waited",
        [CT_IDLE_QUEUED] = "submitted, but not begun",
        [CT_IDLE_UNKNOWN] = "not known",
    };
    unsigned parts = 0;
    if (100 - h->busy_percent < LEAST_PERCENT)
        return;
    ct_string_printf(text, "; idle %.1f%%", 100 - h->busy_percent);
    for (unsigned i = 0; i < CT_IDLE_COUNT; i++)
        if (reasons[i])
            add_part(text, &parts, reasons[i], h->idle_percent[i]);
}

void ct_headline_print(FILE *out, const char *prefix, const struct ct_merged *m)
{
    struct ct_headline h = ct_headline_of(m);
    struct ct_string text = {0};
    if (!h.known)
        return;
    add_busy(&text, &h);
    add_idle(&text, &h);
    fprintf(out, "%s%s\n", prefix, text.data);
    ct_string_free(&text);
}
