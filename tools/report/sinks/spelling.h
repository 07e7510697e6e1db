/* SPDX-License-Identifier: MIT */
/* Numbers in cells as people read them, with their units. */
#ifndef CT_REPORT_SPELLING_H
#define CT_REPORT_SPELLING_H

#include "report/sinks/relation.h"
#include "report/units.h"

/* A known cell that is no text; times in the unit, or with CT_UNIT_AUTO each in its own. */
void ct_spelling_number(char text[CT_UNITS_BYTES], const struct ct_column *column,
                        const struct ct_cell *cell, enum ct_unit unit);

#endif
