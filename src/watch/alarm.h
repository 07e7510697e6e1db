/* SPDX-License-Identifier: MIT */
/* A hang in words, on stderr. */
#ifndef CT_ALARM_H
#define CT_ALARM_H

#include "watch/in_flight.h"

/* Tells of entry `which`, and of the streams that wait for it. */
void ct_alarm_tell(const struct ct_in_flight *all, uint32_t count, uint32_t which);
/* Tells of threads that wait, of those that were not told of as stuck. */
void ct_alarm_tell_calls(const struct ct_in_flight *all, uint32_t count);

#endif
