/* SPDX-License-Identifier: MIT */
/* Reads the environment into ct_config; a wrong value gets one line and the default is used. */
#ifndef CT_OPTIONS_H
#define CT_OPTIONS_H

void ct_options_read(void);

#endif
