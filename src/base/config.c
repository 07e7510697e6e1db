/* SPDX-License-Identifier: MIT */
#include "base/config.h"

struct ct_config ct_config;
