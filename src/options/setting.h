/* SPDX-License-Identifier: MIT */
/*
 * What the variables of options/options.def may be, and where their values go in ct_config. The
 * launcher asks the same of its options, so that none is taken which processes then refuse.
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
    const char *form; /* of the values that there are, for whoever gave another one */
    const char *standard;
    bool (*set)(const char *s); /* false: no such value */
};

extern const struct ct_setting ct_settings[CT_SETTINGS];

#endif
