/* SPDX-License-Identifier: MIT */
#include "output/stuck_section.h"

#include "base/text.h"
#include "cutrace/format.h"
#include "drain/image.h"
#include "watch/watchdog.h"

static uint32_t add_string(const char *s)
{
    uint32_t offset = ct_image_count(CT_SECTION_STRINGS);
    if (!s || !*s)
        return 0;
    ct_image_append(CT_SECTION_STRINGS, s, ct_strlen(s) + 1);
    return offset;
}

/* Rows and frames may have come since theirs were written. */
static void add(const struct ct_in_flight *e, uint64_t start_ns)
{
    struct ct_file_stuck f = e->f;
    f.call = add_string(e->call);
    f.node = add_string(e->node);
    f.frame = e->stack <= ct_image_count(CT_SECTION_FRAMES) ? e->stack : 0;
    f.row = f.row <= ct_image_count(CT_SECTION_ROWS) ? f.row : 0;
    f.since_ns = f.since_ns > start_ns ? f.since_ns - start_ns : 0;
    ct_image_append(CT_SECTION_STUCK, &f, sizeof(f));
}

void ct_stuck_section_add(uint64_t start_ns, bool finished)
{
    const struct ct_in_flight *all;
    uint32_t count = ct_watch_list(&all, finished);
    for (uint32_t i = 0; i < count; i++)
        add(&all[i], start_ns);
}
