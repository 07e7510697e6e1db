/* SPDX-License-Identifier: MIT */
#include "base/spare.h"

atomic_bool ct_spare_is_on;
