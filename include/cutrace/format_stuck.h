/* SPDX-License-Identifier: MIT */
/*
 * Work that does not go on, in summary.bin (format.h has the file and its rules): the operation in
 * flight of each stream and the things that wait, as of one moment, and hangs that a watchdog saw.
 */
#ifndef CUTRACE_FORMAT_STUCK_H
#define CUTRACE_FORMAT_STUCK_H

#include <stdint.h>

/* Kinds of entries, and what they are called. */
#define CT_STUCK_KINDS(X)                                                                          \
    X(OPERATION, "operation")       /* the first of a stream that is not over */                   \
    X(GATE, "gate")                 /* a stream stands before its next operation */                \
    X(CALL, "call")                 /* a thread of the program's waits in a call */                \
    X(COMMUNICATOR, "communicator") /* the newest operation of NCCL called in one */               \
    X(FAULT, "fault")               /* the device answers with an error */                         \
    X(DRIVER, "driver")             /* a call of the library's own has not returned */

enum ct_stuck_kind {
#define X(id, text) CT_STUCK_##id,
    CT_STUCK_KINDS(X)
#undef X
        CT_STUCK_KIND_COUNT
};

/* Reasons for a stream to stand that are no operation. */
#define CT_STUCK_GATES(X)                                                                          \
    X(NONE, "an operation without a time, or another program's work")                              \
    X(HOST, "a function of the host")                                                              \
    X(VALUE, "a value in memory")                                                                  \
    X(EVENT, "an event")                                                                           \
    X(SEMAPHORE, "an external semaphore")

enum ct_stuck_gate {
#define X(id, text) CT_STUCK_GATE_##id,
    CT_STUCK_GATES(X)
#undef X
        CT_STUCK_GATE_COUNT
};

enum ct_stuck_flag {
    CT_STUCK_OVER = 1u << 0,       /* longer than the limit */
    CT_STUCK_PAST = 1u << 1,       /* it was, and went on in the end: for_ns is the whole time */
    CT_STUCK_SUBMITTING = 1u << 2, /* a call that submits to the stream has not returned */
    CT_STUCK_UNFINISHED = 1u << 3, /* it was when the process ended */
};

struct ct_file_stuck {
    uint32_t kind;  /* enum ct_stuck_kind */
    uint32_t flags; /* enum ct_stuck_flag */
    uint32_t row;   /* of CT_SECTION_ROWS, plus one; 0: none. Of a call: the stream's last kernel */
    uint32_t frame; /* that launched it: of CT_SECTION_FRAMES, plus one; 0: not known */
    uint32_t gate;  /* enum ct_stuck_gate */
    int32_t error;  /* of a fault: CUresult */
    uint64_t stream;    /* ct_file_stream.id; 0: not known */
    uint64_t waits_for; /* likewise, the stream whose event is waited for; 0: not known */
    uint32_t call;      /* string: the function of a call; empty: not known */
    uint32_t node;      /* string: the kernel that a graph is in; empty: not known */
    uint32_t thread;    /* the kernel's number of the thread; 0: none */
    uint32_t reserved;  /* zero */
    uint64_t since_ns;  /* from the start of the process */
    uint64_t for_ns;
    uint64_t limit_ns; /* 0: none */
    uint64_t timed;    /* operations of the row that have a duration, and two percentiles of it */
    uint64_t p50_ns;
    uint64_t p99_ns;
    uint64_t behind;       /* operations behind it in its stream that are known */
    uint32_t communicator; /* number among those of as many ranks, from 1, by first use; 0: none */
    uint32_t ranks;        /* of the communicator; 0: not known */
    uint32_t rank;         /* the process's own in it, plus one; 0: not known */
    uint32_t collective;   /* enum ct_collective, plus one; 0: none */
    uint64_t sequence;     /* collective operations of the communicator up to this one */
    uint64_t bytes;        /* of its message */
};

#endif
