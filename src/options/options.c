/* SPDX-License-Identifier: MIT */
#include "options/options.h"

#include <stdlib.h>

#include "base/config.h"
#include "base/suggestion.h"
#include "base/text.h"
#include "containers/intern.h"
#include "options/setting.h"
#include "system/log.h"

/* The level first: it decides which messages about the others are shown. */
static void read_level(void)
{
    const struct ct_setting *level = &ct_settings[CT_SETTING_LOG];
    const char *s = getenv(level->name);
    if (!s || !level->set(s))
        level->set(level->standard);
    ct_log_set_level(ct_config.log_level);
}

static void complain(const struct ct_setting *o, const char *value)
{
    char start[64], end[160];
    struct ct_text s = ct_text_in(start, sizeof(start)), e = ct_text_in(end, sizeof(end));
    ct_text_add(&s, o->name);
    ct_text_add(&s, "='");
    ct_text_add(&e, "' is not possible, using ");
    ct_text_add(&e, o->standard);
    ct_text_add(&e, " (");
    ct_text_add(&e, o->form);
    ct_text_add(&e, ")");
    ct_log(1, start, value, end);
}

/* The rank first: messages about wrong values come from one rank of the job. */
static void read_rank(void)
{
    const struct ct_setting *ranks = &ct_settings[CT_SETTING_RANKS];
    const char *s = getenv(ranks->name);
    if (!s || !ranks->set(s))
        ranks->set(ranks->standard);
    ct_config.rank = ct_rank_read();
    if (ct_rank_has_job(ct_config.rank))
        ct_log_set_rank(ct_config.rank.number - 1);
}

static bool is_setting(const char *name)
{
    for (unsigned i = 0; i < CT_SETTINGS; i++)
        if (ct_streq(ct_settings[i].name, name))
            return true;
    return false;
}

static void complain_unknown(const char *name)
{
    const char *names[CT_SETTINGS];
    for (unsigned i = 0; i < CT_SETTINGS; i++)
        names[i] = ct_settings[i].name;
    const char *meant = ct_suggestion(name, names, CT_SETTINGS);
    ct_log(1, name,
           meant ? " is no variable of cutrace: did you mean " : " is no variable of cutrace",
           meant);
}

/* The launcher says it once for all processes of its run. */
static void look_for_unknown(void)
{
    extern char **environ;
    char name[64];
    for (char **e = environ; e && *e && !ct_config.run; e++) {
        struct ct_text t = ct_text_in(name, sizeof(name));
        if (!ct_starts_with(*e, "CUTRACE_"))
            continue;
        for (const char *p = *e; *p && *p != '='; p++)
            ct_text_add_char(&t, *p);
        if (!is_setting(name))
            complain_unknown(name);
    }
}

bool ct_options_read(void)
{
    bool ok = true;
    read_level();
    read_rank();
    bool speaks = ct_rank_speaks(ct_config.rank, ct_config.ranks);
    for (unsigned i = 0; i < CT_SETTINGS; i++) {
        const struct ct_setting *o = &ct_settings[i];
        const char *given = getenv(o->name);
        /* Copied, as the program may change its environment. */
        const char *s = given ? ct_intern(given, ct_strlen(given)) : NULL;
        ok = ok && (s || !given);
        if (s && o->set(s))
            continue;
        o->set(o->standard);
        if (s && speaks)
            complain(o, s);
    }
    ct_log_set_level(ct_config.log_level);
    if (speaks)
        look_for_unknown();
    return ok;
}
