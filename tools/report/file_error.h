/* SPDX-License-Identifier: MIT */
/* One line on standard error about one file. */
#ifndef CT_REPORT_FILE_ERROR_H
#define CT_REPORT_FILE_ERROR_H

/* A file of another kind is called so, as far as that can be seen. */
void ct_file_error(const char *file, const char *reason);

/* The file of this path is called so: both live as long as the process. */
void ct_file_error_as(const char *path, const char *name);

#endif
