/* SPDX-License-Identifier: MIT */
/*
 * The values that the variables of options/options.def may have, and their places in ct_config. The
 * launcher checks its options here as well: a value that it takes is one that processes take.
 */
#ifndef CT_SETTING_H
#define CT_SETTING_H

#include "base/base.h"

enum {
#define LIBRARY(id) CT_SETTING_##id,
#define LAUNCHER(id)
#define REPORT(id)
#define CTL(id)
#define CT_OPTION(who, id, variable, option, letter, argument, standard, help) who(id)
#include "options/options.def"
#undef LIBRARY
#undef LAUNCHER
#undef REPORT
#undef CTL
    CT_SETTINGS
};

struct ct_setting {
    const char *name;
    const char *form; /* form of its values, shown to a user who gave a wrong one */
    const char *standard;
    bool (*set)(const char *s); /* false: the setting has no such value */
};

extern const struct ct_setting ct_settings[CT_SETTINGS];

#endif
