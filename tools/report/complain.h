/* SPDX-License-Identifier: MIT */
/* One line on standard error about one file. */
#ifndef CT_REPORT_COMPLAIN_H
#define CT_REPORT_COMPLAIN_H

void ct_complain(const char *file, const char *reason);

#endif
