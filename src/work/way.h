/* SPDX-License-Identifier: MIT */
/*
 * Where a copy's memory lies, as its call or the driver says. Of calls the driver is asked nothing
 * while recording is off.
 */
#ifndef CT_WAY_H
#define CT_WAY_H

#include "base/base.h"
#include "cuda/api.h"
#include "cutrace/format.h"

/* From what kind of memory to what. */
struct ct_way {
    enum ct_memory from;
    enum ct_memory to;
    bool peers; /* of two devices */
};

/* Asks the driver; memory it does not know is the program's own. */
enum ct_memory ct_memory_at(CUdeviceptr p);
/* Both ends, where the call says nothing of them. */
struct ct_way ct_way_between(CUdeviceptr from, CUdeviceptr to);
/* Of one end, where the call says it is the host's. */
enum ct_memory ct_memory_of_host(const void *p);

/* One end of a copy whose call says what it is. */
struct ct_end {
    CUmemorytype type;
    const void *host;
    CUdeviceptr device;
};

struct ct_way ct_way_of_ends(struct ct_end from, struct ct_end to);
/* Likewise for a graph's node, which may be launched when recording is on again. */
struct ct_way ct_way_of_node(struct ct_end from, struct ct_end to);

/* Of an element of an array; 1 where the format does not tell. */
size_t ct_array_element_bytes(CUarray array);

enum ct_direction ct_direction_of(struct ct_way way);

#endif
