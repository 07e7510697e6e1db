/* SPDX-License-Identifier: MIT */
/* make_profile NAME FILE: writes one of the profiles of profiles.c. */
#include <stdio.h>

#include "profiles.h"

int main(int argc, char **argv)
{
    struct ct_build b;
    ct_build_start(&b);
    if (argc != 3 || !ct_profile_fill(&b, argv[1]) || !ct_build_save(&b, argv[2])) {
        fputs("usage: make_profile NAME FILE\n", stderr);
        return 1;
    }
    ct_build_free(&b);
    return 0;
}
