/* SPDX-License-Identifier: MIT */
#include "ctl/ctl_stuck.h"

#include <stdlib.h>

#include "ctl/ctl_report.h"

int stuck(const struct link *l, const struct options *o)
{
    struct ctl_profiles p = {0};
    return ctl_add_profile(&p, l, CT_CTL_STUCK, false) ? ctl_show(&p, o, "stuck") : EXIT_FAILURE;
}

int stuck_of_all(const struct options *o)
{
    struct ctl_profiles p = {0};
    struct ctl_links all = {0};
    if (!ctl_find_all(&all))
        return EXIT_FAILURE;
    for (size_t i = 0; i < all.count; i++)
        ctl_add_profile(&p, &all.links[i], CT_CTL_STUCK, false);
    return p.count ? ctl_show(&p, o, "stuck") : EXIT_FAILURE;
}
