/* SPDX-License-Identifier: MIT */
#include "role.h"

#include <stdlib.h>

#include "base/config.h"
#include "options/setting.h"

static struct ct_rank own;

/* A variable that makes no sense is the library's to complain of. */
void role_find(const struct options *o)
{
    const struct option_row *r = &option_rows[OPTION_RANKS];
    const char *list = options_has(o, OPTION_RANKS) ? o->value[OPTION_RANKS] : getenv(r->variable);
    own = ct_rank_read();
    if (!list || !ct_settings[CT_SETTING_RANKS].set(list))
        ct_settings[CT_SETTING_RANKS].set(r->standard);
}

struct ct_rank role_rank(void)
{
    return own;
}

bool role_is_left_out(void)
{
    return !ct_rank_is_wanted(own, ct_config.ranks);
}

bool role_speaks(void)
{
    return ct_rank_speaks(own, ct_config.ranks);
}
