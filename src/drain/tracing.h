/* SPDX-License-Identifier: MIT */
/*
 * The trace of the process while it runs: settled operations and logged calls on their way into
 * blocks. Where operations lie on the host's clock: doc/internals/files.md, "The trace". Drain
 * thread.
 */
#ifndef CT_TRACING_H
#define CT_TRACING_H

#include "base/base.h"
#include "base/process_info.h"
#include "format/trace_write.h"
#include "state/thread.h"
#include "time/measured.h"

/* CUDA has started in the process. False: no memory, there will be no trace. */
bool ct_tracing_start(const struct ct_process_info *process, uint64_t most_bytes);

extern struct ct_tracing *ct_tracing;

static inline bool ct_tracing_is_on(void)
{
    return ct_tracing != NULL;
}

/* Adds an operation with its duration; those of a stream come in their order. */
void ct_tracing_add(const struct ct_measured *m, uint64_t time_ns);
/* A record of a thread's range: `node` of its tree; `number` as in the trace. */
void ct_tracing_add_range(struct ct_thread *t, uint32_t node, enum ct_trace_phase phase,
                          uint64_t number, uint64_t ticks);
/* So many records of ranges found no room. */
void ct_tracing_drop_ranges(uint64_t records);
/* Takes the calls that wait in a thread's log. True: there were some. */
bool ct_tracing_collect(struct ct_thread *t);

struct ct_trace_header ct_tracing_header(void);
/*
 * Puts all that came so far into the next blocks of ct_tracing_ready(). False: these have no room
 * for it. Makes no system call.
 */
bool ct_tracing_seal(bool finished);
/* The blocks that can be written now; they stay until the next call. NULL: none. */
const struct ct_trace_out *ct_tracing_ready(void);

/*
 * There is nowhere to write to, or this is the child of a fork: no call is logged any more. The
 * caller holds the lock of the round.
 */
void ct_tracing_forget(void);

#endif
