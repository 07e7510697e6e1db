/* SPDX-License-Identifier: MIT */
/*
 * The payload of a profile, made again and again in one buffer. A large one has sections with room
 * to grow, in which lists stay in their places, so that little of the file has to be written
 * (format/write.h). A small one, and the final one, is laid out anew and has no such room. Owned by
 * the thread that takes snapshots.
 */
#ifndef CT_IMAGE_H
#define CT_IMAGE_H

#include "base/base.h"
#include "cutrace/format.h"
#include "format/list_extent.h"
#include "system/mem.h"

/* `payload`: the one before, or empty. After a final one all are final. False: memory is out. */
bool ct_image_begin(struct ct_buffer *payload, bool final);
bool ct_image_keeps_lists(void); /* otherwise each list is to be made */

/* A lack of memory is remembered until the end. Offsets count from the section's start. */
void ct_image_append(uint32_t type, const void *data, size_t bytes);
uint32_t ct_image_count(uint32_t type);      /* elements so far */
const void *ct_image_section(uint32_t type); /* moves when something is added */

/*
 * Room for a list of shapes or buckets, which never become fewer: in its old place while it fits
 * there, otherwise elsewhere. All elements are to be written anew; a list that is not asked for
 * keeps them. NULL: memory is out, and the list stays as it was.
 */
void *ct_image_list(uint32_t type, struct ct_extent *list, uint32_t count);

/* False: memory was out, and the payload is not whole. */
bool ct_image_end(void);

#endif
