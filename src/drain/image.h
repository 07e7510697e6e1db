/* SPDX-License-Identifier: MIT */
/*
 * The payload of a profile while it is made, again and again in one buffer. One that is large has
 * sections with room to grow, in which what was there before stays in its place, so that little of
 * the file has to be written (format/write.h). A small one, and the final one, is laid out anew and
 * has no such room. Of who takes snapshots.
 */
#ifndef CT_IMAGE_H
#define CT_IMAGE_H

#include "base/base.h"
#include "cutrace/format.h"
#include "format/listed.h"
#include "system/mem.h"

/* The payload of before, or an empty buffer. After a final one all are. False: memory is out. */
bool ct_image_begin(struct ct_buffer *payload, bool final);
bool ct_image_keeps_lists(void); /* otherwise each is to be made */

/* A section that has no memory is remembered until the end. Offsets count from its start. */
void ct_image_append(uint32_t type, const void *data, size_t bytes);
uint32_t ct_image_count(uint32_t type);      /* elements so far */
const void *ct_image_section(uint32_t type); /* moves when something is added */

/*
 * Room for a list of shapes or buckets, which never become fewer: where it was while it fits there,
 * otherwise elsewhere. What it held is to be written anew; who does not call it keeps it. NULL:
 * memory is out, and the list stays what it was.
 */
void *ct_image_list(uint32_t type, struct ct_extent *list, uint32_t count);

/* False: memory was out, and the payload is not whole. */
bool ct_image_end(void);

#endif
