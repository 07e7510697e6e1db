/* SPDX-License-Identifier: MIT */
#include "system/spare.h"

atomic_bool ct_spare_is_on;
