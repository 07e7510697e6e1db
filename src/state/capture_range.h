/* SPDX-License-Identifier: MIT */
/* CUTRACE_CAPTURE: recording is on while a range of that name is open, in whatever thread. */
#ifndef CT_CAPTURE_RANGE_H
#define CT_CAPTURE_RANGE_H

#include "base/base.h"

/* Whether a range has that name; the text need not be terminated. */
bool ct_capture_is_of(const char *domain, const char *text, size_t bytes);

/* `settle` is called before a switch: events until then belong to the time before it. */
void ct_capture_init(void (*settle)(void));

/* Any thread: one more range is open, one less. The first and the last of them switch recording. */
void ct_capture_opens(void);
void ct_capture_closes(void);

#endif
