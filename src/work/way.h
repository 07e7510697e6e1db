/* SPDX-License-Identifier: MIT */
/*
 * The kinds of memory that a copy goes from and to, by its call's arguments or the driver's answer.
 * About calls the driver is asked nothing while recording is off.
 */
#ifndef CT_WAY_H
#define CT_WAY_H

#include "base/base.h"
#include "cuda/api.h"
#include "cutrace/format.h"

/* The memory that a copy goes from and to. */
struct ct_way {
    enum ct_memory from;
    enum ct_memory to;
    bool peers; /* device memory of two devices */
};

/* Asks the driver; memory that it does not know is the program's own. */
enum ct_memory ct_memory_at(CUdeviceptr p);
/* Asks for both ends, where the call says nothing of them. */
struct ct_way ct_way_between(CUdeviceptr from, CUdeviceptr to);
/* Memory of an end that the call says is the host's. */
enum ct_memory ct_memory_of_host(const void *p);

/* One end of a copy whose call tells its type. */
struct ct_end {
    CUmemorytype type;
    const void *host;
    CUdeviceptr device;
};

struct ct_way ct_way_of_ends(struct ct_end from, struct ct_end to);
/* As ct_way_of_ends(), for a graph's node, which may be launched when recording is on again. */
struct ct_way ct_way_of_node(struct ct_end from, struct ct_end to);

/* Bytes of an element of an array; 1 where the format does not tell. */
size_t ct_array_element_bytes(CUarray array);

enum ct_direction ct_direction_of(struct ct_way way);

#endif
