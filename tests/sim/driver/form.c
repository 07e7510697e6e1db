/* SPDX-License-Identifier: MIT */
/* The one thing that differs between the builds of the driver, beside what they export. */
#include "driver/sim.h"

#ifndef SIM_FORM_VERSION
#define SIM_FORM_VERSION 13000
#endif

int sim_form_version = SIM_FORM_VERSION;
