/* SPDX-License-Identifier: MIT */
/*
 * Reads the environment into ct_config. A wrong value gets one line and the default is used. False:
 * no memory.
 */
#ifndef CT_OPTIONS_H
#define CT_OPTIONS_H

#include "base/base.h"

bool ct_options_read(void);

#endif
