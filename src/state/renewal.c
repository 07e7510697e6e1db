/* SPDX-License-Identifier: MIT */
#include "state/renewal.h"

CT_READ_MOSTLY _Atomic uint32_t ct_pass_generation;

void ct_pass_renew(void)
{
    atomic_fetch_add(&ct_pass_generation, 1);
}
