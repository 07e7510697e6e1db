/* SPDX-License-Identifier: MIT */
/* The page's text before and behind the profile, as tools/page/bundle.sh has put it together. */
#ifndef CT_PAGE_EMBED_H
#define CT_PAGE_EMBED_H

#include <stddef.h>

struct ct_embedded {
    const char *text;
    size_t bytes;
};

struct ct_embedded ct_embed_head(void);
struct ct_embedded ct_embed_tail(void);

#endif
