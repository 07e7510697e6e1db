/* SPDX-License-Identifier: MIT */
#include "ctl/ctl_stragglers.h"

#include <stdlib.h>

#include "ctl/ctl_report.h"
#include "report/host_memory.h"

/* Those that were asked before are asked again. */
static int compare(const struct ctl_links *all, const struct options *o)
{
    struct ctl_profiles p = {0};
    struct link *known = ct_memory_array(all->count, sizeof(*known));
    size_t count = 0;
    for (size_t i = 0; i < all->count; i++)
        if (ctl_add_profile(&p, &all->links[i], CT_CTL_FLUSH, true))
            known[count++] = all->links[i];
    options_pause_ms(options_delay_ms(o));
    for (size_t i = 0; i < count; i++)
        ctl_add_profile(&p, &known[i], CT_CTL_FLUSH, true);
    free(known);
    return p.count ? ctl_show(&p, o, "stragglers") : EXIT_FAILURE;
}

int stragglers(const struct link *l, const struct options *o)
{
    struct link own = *l;
    return compare(&(struct ctl_links){.links = &own, .count = 1}, o);
}

int stragglers_of_all(const struct options *o)
{
    struct ctl_links all = {0};
    return ctl_find_all(&all) ? compare(&all, o) : EXIT_FAILURE;
}
