/* SPDX-License-Identifier: MIT */
#include "base/config.h"

CT_READ_MOSTLY struct ct_config ct_config;
