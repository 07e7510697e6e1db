/* SPDX-License-Identifier: MIT */
/*
 * Where in a stream that several threads share each operation ran. The stamps of all threads cut
 * the stream's time into segments; a stream is in order, so each operation is in one of the
 * segments between its own two stamps. Host stamps tell in which it can be, lengths in which there
 * was one. Pure functions of the drain thread.
 */
#ifndef CT_PLACE_H
#define CT_PLACE_H

#include "base/base.h"
#include "time/gpu_clock.h"

#define CT_PLACE_ROOM 1024 /* brackets that can be looked at together */

/* A bracket, on its context's time line and in ticks of the host. */
struct ct_place_bracket {
    uint64_t start_ns;
    uint64_t stop_ns;
    uint64_t open_ticks; /* as in struct ct_op */
    uint64_t call_ticks;
    uint64_t done_ticks;
    uint64_t closed_ticks;
    bool has_start;    /* a record of its own, which cuts the stream */
    bool is_settled;   /* it has its place before the base: its stop still cuts the stream */
    uint32_t least_ns; /* no segment that holds it is shorter */
    uint32_t front_ns; /* of its bracket, beside the record behind it */
    uint64_t usual_ns; /* its row's mean; 0: not known */
};

/* Its place. */
struct ct_place {
    uint64_t from_ns;     /* the stamp before it, or the end of the operation before it; */
    uint64_t to_ns;       /* and the stamp behind it, or where the next one begins */
    uint64_t cut_ns;      /* the stamp behind all of the segment */
    unsigned with;        /* so many others are in the same segment */
    bool is_last;         /* of these, before the record */
    uint64_t early_ticks; /* it was submitted between these two */
    uint64_t late_ticks;
    uint64_t end_ticks; /* the record behind the segment was made by then */
    uint64_t idle_ns;   /* its start record found the stream without work, for so long at most */
};

/*
 * Places for `count` brackets, CT_PLACE_ROOM at most, none of which begins before `base_ns`, up to
 * where the stream is known. `record_ns`: a record's time on the GPU.
 */
void ct_place_all(const struct ct_place_bracket *brackets, unsigned count, uint64_t base_ns,
                  uint64_t record_ns, const struct ct_gpu_clock *clock, struct ct_place *places);

#endif
