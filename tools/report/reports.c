/* SPDX-License-Identifier: MIT */
#include "report/reports.h"

#include <string.h>

const struct ct_report ct_reports[CT_REPORT_COUNT] = {
#define CT_REPORT(id, name, needs, rows, nvprof, may, help)                                        \
    [CT_REPORT_##id] = {name, CT_NEEDS_##needs, rows, nvprof, may, help},
#include "report/reports.def"
#undef CT_REPORT
};

const struct ct_format ct_formats[CT_FORMAT_COUNT] = {
#define CT_FORMAT(id, name, kind, needs, sink, document, help)                                     \
    [CT_FORMAT_##id] = {name, CT_FORMAT_##kind, CT_NEEDS_##needs, sink, document, help},
#include "report/formats.def"
#undef CT_FORMAT
};

const struct ct_report *ct_report_find(const char *name)
{
    for (size_t i = 0; i < CT_REPORT_COUNT; i++)
        if (!strcmp(ct_reports[i].name, name))
            return &ct_reports[i];
    return NULL;
}

const struct ct_format *ct_format_find(const char *name)
{
    for (size_t i = 0; i < CT_FORMAT_COUNT; i++)
        if (!strcmp(ct_formats[i].name, name))
            return &ct_formats[i];
    return NULL;
}
