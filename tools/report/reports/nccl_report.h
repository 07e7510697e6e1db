/* SPDX-License-Identifier: MIT */
/* NCCL's operations: their names and bandwidth. */
#ifndef CT_REPORT_NCCL_REPORT_H
#define CT_REPORT_NCCL_REPORT_H

#include "report/reports.h"

/*
 * Names for enum ct_collective and ct_file_collective.datatype; newer minor versions may have more.
 */
const char *ct_nccl_operation(uint32_t collective);
const char *ct_nccl_datatype(uint32_t datatype); /* NULL: not known */

/* Bytes per second of the calls that have a time; 0: none has. */
double ct_nccl_algorithm_rate(const struct ct_file_collective *f);

/* Whether bytes go over the bus: with one rank none do. */
bool ct_nccl_is_on_bus(const struct ct_file_collective *f);
double ct_nccl_bus_rate(const struct ct_file_collective *f);

#endif
