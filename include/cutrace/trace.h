/* SPDX-License-Identifier: MIT */
/*
 * summary.trace: every timed operation, call and range, one after the other. The one description of
 * the file that the library writes and the tools read.
 *
 *   0      +--------------------------+
 *          | struct ct_trace_header   |  magic, version, byte order, process; never rewritten
 *   64     +--------------------------+
 *          | block  block  block ...  |  segment 0
 *          +--------------------------+  at 64 + segment_bytes, if that is not 0
 *          | block  block  block ...  |  segment 1
 *          +--------------------------+
 *
 * Blocks are numbered from 1 on. Each has a checksum: whatever instant the writer dies at, all
 * blocks but the one it was writing are whole. A file of unlimited size has one segment that never
 * ends. A bounded one has two, filled in turn: when one is full the other is written anew from its
 * start, so that the file holds the newest records, in a half to all of its bound. A segment is
 * complete in itself: things that its blocks refer to are defined in it before. Behind its last
 * block there may be blocks of the round before, which have lower numbers.
 *
 * Compatibility is as in format.h. Within a major version, blocks, definitions and columns of
 * unknown kinds are skipped, and values that are missing are zero.
 */
#ifndef CUTRACE_TRACE_H
#define CUTRACE_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "cutrace/format.h"

#define CT_TRACE_MAGIC "CUTRACET"
#define CT_TRACE_MAJOR 1
#define CT_TRACE_MINOR 0

struct ct_trace_header {
    char magic[CT_FILE_MAGIC_BYTES];
    uint32_t endian; /* CT_FILE_ENDIAN */
    uint16_t major;
    uint16_t minor;
    uint64_t segment_bytes; /* each of the two segments'; 0: there is one, without a bound */
    uint64_t start_unix_ns; /* as the pid, equal to that in the process's summary */
    uint32_t pid;
    uint32_t reserved[6];
    uint32_t crc; /* CRC-32 of the members before it */
};

enum ct_trace_block_type {
    CT_TRACE_DEFINITIONS = 1, /* numbered things that other blocks refer to */
    CT_TRACE_OPERATIONS = 2,
    CT_TRACE_CALLS = 3,
    CT_TRACE_LOSSES = 4, /* losses of the file, so far */
    CT_TRACE_RANGES = 5, /* beginnings and ends of the program's ranges, and its marks */
};

enum ct_trace_packing {
    CT_TRACE_PLAIN = 0,
    CT_TRACE_LZ4 = 1, /* one LZ4 block (lz4_Block_format.md), without a frame */
};

/* A block's header: stored_bytes follow, and zeros up to a multiple of 8. */
struct ct_trace_block {
    uint64_t number;   /* one more than that of the block before */
    uint64_t first_ns; /* earliest start and latest end in the block; 0: there are none */
    uint64_t last_ns;
    uint32_t type;         /* enum ct_trace_block_type */
    uint32_t packing;      /* enum ct_trace_packing */
    uint32_t stored_bytes; /* their length in the file */
    uint32_t bytes;        /* unpacked */
    uint32_t data_crc;     /* CRC-32 of the stored bytes */
    uint32_t crc;          /* CRC-32 of the members before it */
};

/* Longest unpacked block: a reader needs no more memory than this for one. */
#define CT_TRACE_BLOCK_MOST (512 * 1024)

/*
 * Inside a block numbers are varints: seven bits a byte, the lowest first, the top bit set in all
 * but the last byte. Signed ones are folded (0, -1, 1, -2 are 0, 1, 2, 3). A string is its length
 * and its bytes, without a NUL.
 *
 * A block of definitions is a sequence of definitions: kind, length of the rest in bytes, then the
 * members of the structure below in their order. The first member is the number by which others
 * refer to it. A number may be defined again, with facts that have become known meanwhile.
 */
enum ct_trace_definition {
    CT_TRACE_DEFINE_PROCESS = 1,
    CT_TRACE_DEFINE_DEVICE = 2,
    CT_TRACE_DEFINE_ROW = 3,
    CT_TRACE_DEFINE_STREAM = 4,
    CT_TRACE_DEFINE_SHAPE = 5,
    CT_TRACE_DEFINE_API = 6,
    CT_TRACE_DEFINE_THREAD = 7,
    CT_TRACE_DEFINE_LABEL = 8,
    CT_TRACE_DEFINE_FRAME = 9,
};

/* All times in the file are nanoseconds of the host's monotonic clock since zero_unix_ns. */
struct ct_trace_process {
    uint32_t pid;
    uint32_t parent_pid;
    uint64_t start_unix_ns; /* when CUDA was first seen, as in the summary */
    uint64_t zero_unix_ns;  /* a little before: when the library began to take times */
    const char *command;
    const char *host;
};

/*
 * The driver's answers about a device's attributes of these names, in its units
 * (CU_DEVICE_ATTRIBUTE_*): rates in kHz, the width of the bus in bits, memory in bytes. New ones
 * come at the end.
 */
#define CT_TRACE_ATTRIBUTES(X)                                                                     \
    X(MULTIPROCESSOR_COUNT)                                                                        \
    X(CLOCK_RATE)                                                                                  \
    X(MEMORY_CLOCK_RATE)                                                                           \
    X(GLOBAL_MEMORY_BUS_WIDTH)                                                                     \
    X(COMPUTE_CAPABILITY_MAJOR)                                                                    \
    X(COMPUTE_CAPABILITY_MINOR)                                                                    \
    X(PCI_DOMAIN_ID)                                                                               \
    X(PCI_BUS_ID)                                                                                  \
    X(PCI_DEVICE_ID)                                                                               \
    X(INTEGRATED)                                                                                  \
    X(L2_CACHE_SIZE)                                                                               \
    X(TOTAL_CONSTANT_MEMORY)                                                                       \
    X(ASYNC_ENGINE_COUNT)                                                                          \
    X(WARP_SIZE)                                                                                   \
    X(MAX_THREADS_PER_BLOCK)                                                                       \
    X(MAX_BLOCK_DIM_X)                                                                             \
    X(MAX_BLOCK_DIM_Y)                                                                             \
    X(MAX_BLOCK_DIM_Z)                                                                             \
    X(MAX_GRID_DIM_X)                                                                              \
    X(MAX_GRID_DIM_Y)                                                                              \
    X(MAX_GRID_DIM_Z)                                                                              \
    X(MAX_REGISTERS_PER_BLOCK)                                                                     \
    X(MAX_REGISTERS_PER_MULTIPROCESSOR)                                                            \
    X(MAX_SHARED_MEMORY_PER_BLOCK)                                                                 \
    X(MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)                                                           \
    X(MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)                                                        \
    X(MAX_BLOCKS_PER_MULTIPROCESSOR)                                                               \
    X(MAX_THREADS_PER_MULTIPROCESSOR)

enum ct_trace_attribute {
#define X(id) CT_TRACE_##id,
    CT_TRACE_ATTRIBUTES(X)
#undef X
        CT_TRACE_ATTRIBUTE_COUNT
};

struct ct_trace_device {
    uint32_t id;
    uint32_t ordinal; /* CUdevice */
    uint8_t uuid[16];
    const char *name;
    const char *given_name; /* the program's name for it (NVTX); "": none, also below */
    uint64_t memory_bytes;  /* 0: unknown */
    uint32_t attribute[CT_TRACE_ATTRIBUTE_COUNT]; /* one more than the value; 0: unknown */
};

/* The kind of an operation, as in struct ct_file_row. */
struct ct_trace_row {
    uint32_t id;     /* index of the row in the summary */
    uint32_t kind;   /* enum ct_row_kind */
    uint32_t detail; /* copies: enum ct_direction; graphs: number of nodes */
    uint32_t device;
    uint32_t registers;           /* UINT32_MAX: unknown; in the file one more, and 0 */
    uint32_t static_shared_bytes; /* likewise */
    const char *name;             /* mangled; "" for copies and sets */
};

struct ct_trace_stream {
    uint64_t id; /* ordinal of the stream in the process, from 1 */
    uint32_t device;
    uint32_t context; /* number of the context in the process */
    uint32_t flags;   /* cuStreamCreate's; UINT32_MAX: not seen; in the file one more, and 0 */
    int32_t priority; /* folded */
    uint32_t special; /* 0: created, 1: legacy default stream, 2: per-thread default stream */
    const char *name; /* given by the program */
    const char *context_name;
};

struct ct_trace_shape {
    uint64_t id; /* from 1; 0 is no shape: not a kernel */
    uint32_t grid[3];
    uint32_t block[3];
    uint64_t dynamic_shared_bytes;
};

struct ct_trace_api {
    uint32_t id;
    uint32_t flags; /* enum ct_api_flag */
    const char *name;
};

struct ct_trace_thread {
    uint32_t id;
    uint32_t tid;     /* the system's number */
    const char *name; /* given by the program, or the system's at the thread's first call */
};

/* A name of the program's ranges or marks (NVTX). */
struct ct_trace_label {
    uint32_t id;
    uint32_t style;     /* enum ct_range_style */
    uint32_t color;     /* as struct ct_file_range */
    uint32_t category;  /* number in its domain; 0: none */
    const char *domain; /* "": the default one */
    const char *name;
    const char *category_name;
};

/* A line of a function that operations were launched from, or that called such a one. */
struct ct_trace_frame {
    uint32_t id;     /* from 1; 0 is no frame */
    uint32_t caller; /* ct_trace_frame.id, defined before; 0: none. Read: the index, a lower one */
    uint32_t line;   /* 0: not known */
    const char *function;
    const char *file;
    uint64_t address; /* of native code, as struct ct_file_address.offset, plus one; 0: Python */
    const char *build_id; /* of that code's file */
};

enum ct_trace_op_flag {
    CT_TRACE_OP_BOUND = 1u << 0,       /* the duration is only an upper bound */
    CT_TRACE_OP_OVERLAPPED = 1u << 1,  /* cause: another thread's work came between */
    CT_TRACE_OP_LEGACY_WAIT = 1u << 2, /* cause: a wait for or by the legacy default stream */
    CT_TRACE_OP_UNTIED = 1u << 3,      /* the clocks were not tied: its time is a guess */
};

/*
 * Operations and calls are stored in columns: the number of elements, the number of columns, the
 * length of each column in bytes, then the columns. Columns of operations:
 *
 *   0 end_ns        less that of the one before in the block (0 for the first), folded
 *   1 duration      end_ns - start_ns
 *   2 row
 *   3 stream
 *   4 shape
 *   5 correlation   less that of the one before (0 for the first), folded
 *   6 flags         and, from bit 8 on, 1: has bytes, 2: has operations, 4: has memory, 8: has a
 *                   frame
 *   7 bytes         if the flags say so
 *   8 operations    if the flags say so; otherwise 1
 *   9 memory        if the flags say so: source + 8 * target
 *  10 frame         if the flags say so
 *
 * Operations of a stream come in the order in which they ran; they do not overlap there.
 */
struct ct_trace_op {
    uint64_t start_ns;
    uint64_t end_ns;
    uint64_t bytes;       /* copies, sets and prefetches */
    uint64_t operations;  /* copies of a batch, which have one start and one end */
    uint64_t correlation; /* the submitting call's; 0: not known */
    uint64_t stream;      /* ct_trace_stream.id; read: the index in the reader's table */
    uint64_t shape;       /* ct_trace_shape.id; read: the index; 0: none */
    uint32_t row;         /* ct_trace_row.id; read: the index */
    uint32_t flags;       /* enum ct_trace_op_flag */
    uint32_t frame;       /* ct_trace_frame.id that launched it; read: the index; 0: not known */
    uint8_t source;       /* copies: enum ct_memory */
    uint8_t target;
};
#define CT_TRACE_OP_COLUMNS 11
#define CT_TRACE_OP_FLAGS 8 /* bits */

/*
 * Columns of calls. Only the outermost call is there: a driver call that the runtime makes is not.
 *
 *   0 start_ns      less end_ns of the one before in the block (0 for the first), folded
 *   1 duration      end_ns - start_ns
 *   2 api
 *   3 thread
 *   4 correlation   less that of the one before (0 for the first), folded
 *   5 result        folded
 *
 * Calls of a thread come in the order in which they were made.
 */
struct ct_trace_call {
    uint64_t start_ns;
    uint64_t end_ns;
    uint64_t correlation; /* unique in the process; its operations have this one, too */
    uint32_t api;         /* ct_trace_api.id; read: the index in the reader's table */
    uint32_t thread;      /* ct_trace_thread.id; read: the index */
    int32_t result;       /* CUresult or cudaError_t */
};
#define CT_TRACE_CALL_COLUMNS 6

/*
 * Columns of ranges: each has a record where it begins and one where it ends, a mark one.
 *
 *   0 at_ns         less that of the one before in the block (0 for the first), folded
 *   1 label
 *   2 thread
 *   3 phase         enum ct_trace_phase, and 4: has a number
 *   4 number        if the phase says so: less the last number before (0 at first), folded
 *
 * Records of a thread come in their order. Ranges that are pushed are popped in the reverse order,
 * each domain by itself; ranges that are started may end in any, and have numbers for that. A range
 * that one thread starts and another one ends is the former's.
 */
enum ct_trace_phase {
    CT_TRACE_RANGE_BEGINS = 0,
    CT_TRACE_RANGE_ENDS = 1,
    CT_TRACE_RANGE_MARKS = 2,
};

struct ct_trace_range {
    uint64_t at_ns;
    uint64_t
        number;     /* unique among those of its thread that are open; 0: it is pushed, or a mark */
    uint32_t label; /* ct_trace_label.id; read: the index in the reader's table */
    uint32_t thread; /* ct_trace_thread.id; read: the index */
    uint32_t phase;  /* enum ct_trace_phase */
};
#define CT_TRACE_RANGE_COLUMNS 5
#define CT_TRACE_RANGE_NUMBERED 4u /* in the column of the phase */

/*
 * A block of losses has these members, in their order. All are totals of the process up to the
 * block; each copy of a batch is an operation.
 */
struct ct_trace_losses {
    uint64_t finished;      /* 1: written when the process ended, nothing is missing */
    uint64_t dropped_ops;   /* timed operations that found no room on their way to the file */
    uint64_t dropped_calls; /* calls, likewise */
    uint64_t cut_ops;       /* operations that were in the file and went for newer ones */
    uint64_t cut_calls;
    uint64_t cut_bytes;
    uint64_t untimed[CT_FILE_LOSSES]; /* operations without a duration, by enum ct_loss */
    uint64_t dropped_ranges;          /* records of ranges */
    uint64_t cut_ranges;
};

CT_FILE_CHECK(ct_trace_header, 64);
CT_FILE_CHECK(ct_trace_block, 48);

#endif
