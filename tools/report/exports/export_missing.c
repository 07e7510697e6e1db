/* SPDX-License-Identifier: MIT */
/* Formats that configure left out: they stay in the table, and say so. */
#include <stdlib.h>

#include "config.h"
#include "report/reports.h"

#if !CT_WITH_SQLITE || !CT_WITH_PERFETTO
static int refuse(const struct ct_input *in)
{
    fprintf(stderr, "cutrace-report: --format %s was left out when this program was built\n",
            in->o->format->name);
    return EXIT_FAILURE;
}
#endif

#if !CT_WITH_SQLITE
int ct_export_sqlite(const struct ct_input *in, FILE *out)
{
    (void)out;
    return refuse(in);
}
#endif

#if !CT_WITH_PERFETTO
int ct_export_perfetto(const struct ct_input *in, FILE *out)
{
    (void)out;
    return refuse(in);
}
#endif
