/* SPDX-License-Identifier: MIT */
#ifndef CT_REPORT_CHROME_COLOR_H
#define CT_REPORT_CHROME_COLOR_H

#include <stdint.h>

/*
 * The colour, of those that the Trace Event Format has names for, that is nearest to a colour of
 * NVTX (alpha, red, green, blue from the highest byte). NULL: 0, none.
 */
const char *ct_chrome_color(uint32_t argb);

#endif
