/* SPDX-License-Identifier: MIT */
#include "ctl/ctl_stragglers.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "ctl/ctl_report.h"

/* Those that were asked before are asked again. */
static int compare(const struct ctl_links *all, const struct options *o)
{
    struct ctl_profiles p = {0};
    struct ctl_links known = {0};
    unsigned delay_ms = options_delay_ms(o);
    struct timespec delay = {.tv_sec = delay_ms / 1000,
                             .tv_nsec = (long)(delay_ms % 1000) * 1000000};
    known.links = calloc(all->count, sizeof(*known.links));
    if (!known.links)
        return EXIT_FAILURE;
    for (size_t i = 0; i < all->count; i++)
        if (ctl_add_profile(&p, &all->links[i], CT_CTL_FLUSH, true))
            known.links[known.count++] = all->links[i];
    while (nanosleep(&delay, &delay) && errno == EINTR)
        ;
    for (size_t i = 0; i < known.count; i++)
        ctl_add_profile(&p, &known.links[i], CT_CTL_FLUSH, true);
    free(known.links);
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
