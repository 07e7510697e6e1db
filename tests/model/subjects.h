/* SPDX-License-Identifier: MIT */
/* The models of cutrace's own code, each in the file of its name; they end with one without a name.
 */
#ifndef SUBJECTS_H
#define SUBJECTS_H

#include "model.h"

extern const struct model subject_ring[], subject_table[], subject_directory[], subject_events[], subject_tally[],
    subject_rows[], subject_threads[], subject_streams[], subject_captures[], subject_contexts[];

#endif
