/* SPDX-License-Identifier: MIT */
/* The figures that advice is made of, all devices and processes together. Times in nanoseconds. */
#ifndef CT_REPORT_ADVICE_FACTS_H
#define CT_REPORT_ADVICE_FACTS_H

#include <stdbool.h>

#include "report/profile/merge.h"

struct ct_advice_idle {
    double count; /* gaps that had some of it */
    double ns;
};

struct ct_advice_copies {
    double count;
    double bytes;
    double ns;      /* sum of durations */
    double busy_ns; /* of the device's time */
};

struct ct_advice_calls {
    double calls;
    double ns;
    const char *name; /* the symbol of those that took longest; NULL: there were none */
    double name_calls;
    double name_ns;
};

struct ct_advice_ranks {
    double count;
    double mean_ns;
    double most_ns;
    uint32_t most; /* rank or process with the most */
    bool has_rank;
};

struct ct_advice_facts {
    bool is_known; /* enough of the operations, for long enough */
    struct ct_file_activity sum;
    double time_ns; /* observed time, of all devices */

    struct ct_advice_idle launching;  /* idle in gaps as a launch makes them, */
    struct ct_advice_idle elsewhere;  /* in longer ones, */
    struct ct_advice_idle after_wait; /* and after the host had waited */

    struct ct_advice_copies all; /* with a duration, as the others */
    struct ct_advice_copies pageable;
    struct ct_advice_copies pinned;
    struct ct_advice_copies small;
    struct ct_advice_copies to_device;
    bool has_async_copies;

    double launches;       /* of kernels, with a duration */
    double launch_ns;      /* the host's time for one */
    double small_launches; /* of kernels shorter than that on average */
    double small_ns;

    struct ct_advice_calls waiting; /* until the GPU is done */
    struct ct_advice_calls pinning;
    double mapped_calls;
    struct ct_advice_ranks ranks;
};

void ct_advice_gather(struct ct_advice_facts *f, const struct ct_merged *m);

#endif
