/* SPDX-License-Identifier: MIT */
/* Calls of NCCL, by size of the message. */
#ifndef CT_PAGE_NCCL_H
#define CT_PAGE_NCCL_H

#include <jansson.h>

#include "report/profile/merge.h"

json_t *ct_page_nccl(const struct ct_merged *m);

#endif
