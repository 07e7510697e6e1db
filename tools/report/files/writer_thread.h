/* SPDX-License-Identifier: MIT */
/*
 * A file that is written by a thread of its own, behind the stream's writer: to copy gigabytes into
 * the page cache, and to wait for the disk, takes as long as to format them.
 */
#ifndef CT_REPORT_BEHIND_H
#define CT_REPORT_BEHIND_H

#include <stdio.h>

/*
 * A stream to an open file, which closing it closes. Errors of writing, ENOSPC for one, show as on
 * other streams: ferror(), and errno of the call that fails. NULL: errno says why.
 */
FILE *ct_behind_open(int fd);

#endif
