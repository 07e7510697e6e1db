/* SPDX-License-Identifier: MIT */
/* model [NAME]: all models, or one; says how many executions each has. */
#include <stdio.h>
#include <string.h>

#include "litmus.h"
#include "subjects.h"

static const struct model *const subjects[] = {subject_ring,    subject_table,   subject_directory,   subject_events,
                                               subject_tally,   subject_rows,    subject_threads,
                                               subject_streams, subject_captures, subject_contexts};

int main(int argc, char **argv)
{
    unsigned long all = 0;
    litmus();
    for (unsigned i = 0; i < sizeof(subjects) / sizeof(subjects[0]); i++)
        for (const struct model *m = subjects[i]; m->name; m++) {
            if (argc > 1 && strcmp(argv[1], m->name))
                continue;
            unsigned long n = (unsigned long)model_check(m);
            printf("%-32s %9lu executions\n", m->name, n);
            all += n;
        }
    printf("%-32s %9lu executions\n", "all", all);
    return all ? 0 : 1;
}
