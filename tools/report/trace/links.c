/* SPDX-License-Identifier: MIT */
#include "report/trace/links.h"

#include <stdlib.h>

#include "report/host_memory.h"

#define PAGE 1024                    /* numbers */
#define MOST_PAGES ((size_t)1 << 24) /* correlations up to 2^34 */

/* Pages for one number each, from a hostile file, are no more than a multiple of the file. */
#define PAGES_AT_LEAST 1024
#define NUMBERS_PER_PAGE 16

static uint32_t *new_page(struct ct_links *l, size_t page)
{
    if (page >= MOST_PAGES || l->page_count > PAGES_AT_LEAST + l->set / NUMBERS_PER_PAGE)
        return NULL;
    l->pages = ct_memory_grow(l->pages, &l->pages_size, page + 1, sizeof(*l->pages));
    l->pages[page] = calloc(PAGE, sizeof(**l->pages));
    if (!l->pages[page])
        ct_memory_fail();
    l->page_count++;
    return l->pages[page];
}

uint32_t *ct_links_at(struct ct_links *l, uint64_t correlation)
{
    uint64_t page = correlation / PAGE;
    if (!correlation)
        return NULL;
    l->set++;
    uint32_t *numbers = page < l->pages_size ? l->pages[page] : NULL;
    if (!numbers)
        numbers = page < MOST_PAGES ? new_page(l, (size_t)page) : NULL;
    return numbers ? &numbers[correlation % PAGE] : NULL;
}

uint32_t ct_links_get(const struct ct_links *l, uint64_t correlation)
{
    uint64_t page = correlation / PAGE;
    if (page >= l->pages_size || !l->pages[page])
        return 0;
    return l->pages[page][correlation % PAGE];
}

void ct_links_free(struct ct_links *l)
{
    for (size_t i = 0; i < l->pages_size; i++)
        free(l->pages[i]);
    free(l->pages);
    *l = (struct ct_links){0};
}
