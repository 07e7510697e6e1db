/* SPDX-License-Identifier: MIT */
/* make_golden_trace NAME FILE: writes one of the traces of traces.c. */
#include <stdio.h>

#include "traces.h"

int main(int argc, char **argv)
{
    if (argc == 3 && ct_golden_trace_write(argv[1], argv[2]))
        return 0;
    fputs("usage: make_golden_trace NAME FILE\n", stderr);
    return 1;
}
