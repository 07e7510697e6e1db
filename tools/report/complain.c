/* SPDX-License-Identifier: MIT */
#include "report/complain.h"

#include <stdio.h>

#include "report/names.h"

void ct_complain(const char *file, const char *reason)
{
    struct ct_string line = {0};
    ct_string_put(&line, "cutrace-report: ");
    ct_name_safe(&line, file);
    ct_string_printf(&line, ": %s\n", reason);
    fputs(line.data, stderr);
    ct_string_free(&line);
}
