/* SPDX-License-Identifier: MIT */
/*
 * summary.bin: the one description of the file that the library writes and the tools read.
 *
 *   0      +--------------------------+
 *          | struct ct_file_header    |  magic, version, byte order; never rewritten
 *          |   commit[0]  commit[1]   |  where the newest two payloads are
 *   4096   +--------------------------+
 *          | payload A                |  a section table, then the sections
 *          +--------------------------+
 *          | payload B                |
 *          +--------------------------+
 *
 * A new payload is written where the newest committed one is not, then its commit slot (sequence &
 * 1) is overwritten: at each instant one slot names a whole payload. The reader takes the valid
 * commit with the higher sequence, or the other one when the payload's checksum does not match.
 * All integers are in the byte order of the writer; `endian` tells which. Every structure is a
 * multiple of 8 bytes and has no padding. Times are in nanoseconds, sizes in bytes. Offsets in
 * the section table count from the start of the payload.
 * Compatibility: another major version cannot be read. Within a major version structures only
 * grow at the end (`element_bytes` is the writer's size: a reader uses the part it knows and
 * takes missing members for zero), and unknown section types are skipped.
 */
#ifndef CUTRACE_FORMAT_H
#define CUTRACE_FORMAT_H

#include <stdint.h>

#include "cutrace/format_device.h"
#include "cutrace/format_native.h"
#include "cutrace/format_stacks.h"
#include "cutrace/format_stuck.h"

#define CT_FILE_MAGIC "CUTRACE\n"
#define CT_FILE_MAGIC_BYTES 8
#define CT_FILE_MAJOR 1
#define CT_FILE_MINOR 1
#define CT_FILE_ENDIAN 0x01020304u
#define CT_FILE_HEADER_BYTES 4096

/* One complete payload. crc covers the members before it; both are CRC-32 (IEEE 802.3). */
struct ct_file_commit {
    uint64_t sequence; /* counts from 1; 0: slot never used */
    uint64_t offset;   /* of the payload, from the start of the file */
    uint64_t bytes;    /* of the payload */
    uint32_t payload_crc;
    uint32_t crc;
};

struct ct_file_header {
    char magic[CT_FILE_MAGIC_BYTES];
    uint32_t endian;
    uint16_t major;
    uint16_t minor;
    struct ct_file_commit commit[2];
    uint64_t start_unix_ns; /* as in ct_file_process; 0: not said, as in a merged file */
    uint8_t reserved[CT_FILE_HEADER_BYTES - 24 - 2 * 32];
};

/* A payload starts with this and `sections` entries of struct ct_file_section. */
struct ct_file_payload {
    uint32_t sections;
    uint32_t section_bytes; /* sizeof(struct ct_file_section) of the writer */
};

enum ct_section_type {
    CT_SECTION_STRINGS = 1,     /* char: NUL-terminated, addressed by the first's offset; 0 is "" */
    CT_SECTION_PROCESS = 2,     /* struct ct_file_process, exactly one */
    CT_SECTION_DEVICES = 3,     /* struct ct_file_device, by ct_file_row.device */
    CT_SECTION_ROWS = 4,        /* struct ct_file_row: kernels, copies, sets, graphs, prefetches */
    CT_SECTION_SHAPES = 5,      /* struct ct_file_shape, by ct_file_row.shape_first */
    CT_SECTION_BUCKETS = 6,     /* struct ct_file_bucket, by ct_file_row/api.*bucket_first */
    CT_SECTION_APIS = 7,        /* struct ct_file_api */
    CT_SECTION_STREAMS = 8,     /* struct ct_file_stream */
    CT_SECTION_NODES = 9,       /* struct ct_file_node: work inside graphs */
    CT_SECTION_NOTES = 10,      /* struct ct_file_note */
    CT_SECTION_ACTIVITIES = 11, /* struct ct_file_activity: each device's busy and idle time */
    CT_SECTION_GAPS = 12,       /* struct ct_file_gap: times that devices stood idle, and reasons */
    CT_SECTION_TRANSFERS = 13,  /* struct ct_file_transfer: copies by kind of memory and size */
    CT_SECTION_PROCESSES = 14,  /* struct ct_file_process: the processes of a merged file */
    CT_SECTION_TOTALS = 15,     /* struct ct_file_total: totals of each process */
    CT_SECTION_SPREADS = 16,    /* struct ct_file_spread: differences between processes */
    CT_SECTION_THREADS = 17,    /* struct ct_file_thread: threads that had ranges */
    CT_SECTION_RANGES = 18,     /* struct ct_file_range: ranges and marks of the program, by NVTX */
    CT_SECTION_CELLS = 19,      /* struct ct_file_cell: operations and calls in ranges */
    CT_SECTION_MEMORY = 20,     /* struct ct_file_memory: allocations and frees */
    CT_SECTION_BLOCKS = 21,     /* struct ct_file_block: blocks still allocated at exit */
    CT_SECTION_COLLECTIVES = 22, /* struct ct_file_collective: operations of NCCL */
    CT_SECTION_UNIFIED = 23,     /* struct ct_file_unified: managed memory that moved, and faults */
    CT_SECTION_LINES = 24,       /* struct ct_file_line: lines of the program's source */
    CT_SECTION_FRAMES = 25,      /* struct ct_file_frame: lines in those that called them */
    CT_SECTION_STACKS = 26,      /* struct ct_file_stack: operations by row and innermost frame */
    CT_SECTION_MODULES = 27,     /* struct ct_file_module: objects whose methods frames are in */
    CT_SECTION_INSIDE = 28,      /* struct ct_file_inside: work inside graphs, likewise */
    CT_SECTION_OBJECTS = 29,     /* struct ct_file_object: files that native code is from */
    CT_SECTION_ADDRESSES = 30,   /* struct ct_file_address: lines that are of native code */
    CT_SECTION_STUCK = 31,       /* struct ct_file_stuck: work in flight, and hangs */
    CT_SECTION_SENSORS = 32,     /* struct ct_file_sensor: clocks, power and load of devices */
};

struct ct_file_section {
    uint32_t type;          /* enum ct_section_type */
    uint32_t element_bytes; /* size of one element as written */
    uint64_t count;         /* elements */
    uint64_t offset;        /* from the start of the payload, multiple of 8 */
};

enum ct_process_flag {
    CT_PROCESS_FINISHED = 1u << 0, /* written by the exit handler: nothing is missing */
};

struct ct_file_process {
    uint32_t pid;
    uint32_t parent_pid;
    uint64_t start_unix_ns;  /* when CUDA was first seen in the process */
    uint64_t duration_ns;    /* from then until this payload was written */
    uint32_t command;        /* string: arguments joined by blanks */
    uint32_t host;           /* string */
    uint32_t flags;          /* enum ct_process_flag */
    uint32_t driver_version; /* cuDriverGetVersion, 0: unknown */
    uint64_t off_operations; /* operations seen while recording was switched off */
    uint64_t written;        /* payloads written so far, this one included */
    uint32_t rank;           /* number in its parallel job, plus one; 0: not known */
    uint32_t ranks;          /* ranks in the job; 0: not known */
};

enum ct_calibration_source {
    CT_CALIBRATION_NONE = 0,   /* no figures for this device: durations are raw brackets */
    CT_CALIBRATION_TABLE = 1,  /* figures from the table of known devices */
    CT_CALIBRATION_DEVICE = 2, /* measured on the device by this process */
};

struct ct_file_device {
    uint32_t ordinal; /* CUdevice */
    uint32_t name;    /* string */
    uint8_t uuid[16];
    uint64_t memory_bytes;
    uint32_t sm_count;
    uint32_t clock_khz;
    uint32_t compute_major;
    uint32_t compute_minor;
    uint32_t calibration;         /* enum ct_calibration_source */
    uint32_t bias_busy_ns;        /* taken off a bracket in a long queue: see doc/accuracy.md */
    uint32_t gap_busy_ns;         /* previous stop to this start on a busy stream, at most */
    uint32_t submit_ns;           /* lead of the host's submission that costs nothing */
    uint32_t uncertainty_ns;      /* of one duration on a busy stream, either way */
    uint32_t idle_uncertainty_ns; /* as uncertainty_ns, on an idle stream; 0: unknown */
    uint32_t copy_floor_ns;       /* shortest bracket of a 4-byte copy to the device; 0: unknown */
    uint32_t set_floor_ns;        /* shortest bracket of a 4-byte set; 0: unknown */
    uint32_t bias_ready_ns;       /* as bias_busy_ns, where little is queued; see doc/accuracy.md */
    uint32_t bias_copy_ns;        /* as bias_ready_ns, for a copy engine's work */
    uint32_t bias_wait_ns; /* as bias_ready_ns, for a copy whose call returns when it is done */
    uint32_t beside_ns;    /* 0; before 0.2.0: more at either end, with two other streams at work */
    uint32_t given_name;   /* string: the program's name for it (NVTX); empty: none */
    uint32_t memory_mbs;   /* bandwidth of its memory at best, MB/s; 0: unknown */
    uint32_t link_mbs;     /* its link's to the host at best, one direction, MB/s; 0: unknown */
    uint32_t record_ns;    /* time of an event record on it, seen from this host; 0: unknown */
    uint32_t witnesses;    /* launches of our own behind witness_ns; 0: none, or too few */
    int32_t witness_ns;    /* late kernels' error by submit_ns alone; negative: too short */
};

/* Kinds of operations. */
enum ct_row_kind {
    CT_ROW_KERNEL = 1,
    CT_ROW_COPY = 2,
    CT_ROW_SET = 3,
    CT_ROW_GRAPH = 4,
    CT_ROW_PREFETCH = 5,
};

/* Copy directions, in the order of the names nvprof gives them. */
#define CT_DIRECTIONS(X)                                                                           \
    X(HTOD, "HtoD")                                                                                \
    X(DTOH, "DtoH")                                                                                \
    X(HTOA, "HtoA")                                                                                \
    X(ATOH, "AtoH")                                                                                \
    X(ATOA, "AtoA")                                                                                \
    X(ATOD, "AtoD")                                                                                \
    X(DTOA, "DtoA")                                                                                \
    X(DTOD, "DtoD")                                                                                \
    X(HTOH, "HtoH")                                                                                \
    X(PTOP, "PtoP")

enum ct_direction {
#define X(id, text) CT_##id,
    CT_DIRECTIONS(X)
#undef X
        CT_DIRECTION_COUNT
};

/*
 * Reasons why an operation that was seen has no duration. `ran` says whether it ran on the GPU all
 * the same: launches = timed + all losses, and calls shown = timed + the losses that ran.
 */
#define CT_LOSSES(X)                                                                               \
    X(CAPTURED, 0, "captured into a graph")                                                        \
    X(SAMPLED, 1, "left out of the sample")                                                        \
    X(EXCLUDED, 1, "excluded as asked")                                                            \
    X(NO_EVENT, 1, "too many at once for --events-in-use")                                         \
    X(RING_FULL, 1, "launched faster than they could be read")                                     \
    X(DEEP_QUEUE, 1, "in a stream too full for timing")                                            \
    X(PROGRAMMATIC, 1, "left out of programmatic dependent launches, which timing keeps apart")    \
    X(UNSAFE, 1, "in a stream that could not be asked for a capture")                              \
    X(EVENT_ERROR, 1, "refused by CUDA when timed")                                                \
    X(CONTEXT_GONE, 1, "read too late: their context was destroyed")                               \
    X(UNFINISHED, 1, "still running at exit")                                                      \
    X(MIXED_BATCH, 1, "in a batch of copies in several directions")                                \
    X(NO_START, 1, "without a known start")                                                        \
    X(INSIDE, 1, "timed kernel by kernel instead")                                                 \
    X(SHARED, 1, "left out so that streams still overlap")

enum ct_loss {
#define X(id, ran, text) CT_LOSS_##id,
    CT_LOSSES(X)
#undef X
        CT_LOSS_COUNT
};
#define CT_FILE_LOSSES 16 /* room in the file; CT_LOSS_COUNT must not exceed it */

struct ct_file_row {
    uint32_t kind;                 /* enum ct_row_kind */
    uint32_t detail;               /* copies: enum ct_direction; graphs: number of nodes */
    uint32_t device;               /* index into CT_SECTION_DEVICES */
    uint32_t name;                 /* string: mangled kernel name; "" for copies and sets */
    uint64_t timed;                /* operations with a duration: all figures below are of these */
    uint64_t errors;               /* calls that failed: they count nowhere else */
    uint64_t lost[CT_FILE_LOSSES]; /* by enum ct_loss */
    uint64_t total_ns;
    uint64_t min_ns;
    uint64_t max_ns;
    double square_ns2;     /* sum of squared durations */
    uint64_t raw_total_ns; /* the raw brackets', as the next two */
    uint64_t raw_min_ns;
    uint64_t raw_max_ns;
    uint64_t bytes;       /* copies, sets and prefetches: of all that ran, timed or not */
    uint64_t timed_bytes; /* bytes of the timed, for the throughput */
    uint64_t overlapped;  /* of the marked: another thread's bracket on the stream interleaved */
    uint32_t registers;   /* per thread; UINT32_MAX: unknown */
    uint32_t static_shared_bytes; /* per block; UINT32_MAX: unknown */
    uint32_t shape_first;
    uint32_t shape_count;
    uint64_t shape_other; /* launches in shapes that found no room */
    uint32_t bucket_first;
    uint32_t bucket_count;
    double raw_square_ns2;     /* sum of squared raw brackets */
    uint64_t doubt_ns;         /* sum of each duration's error at most, either way */
    uint64_t marked;           /* timed operations whose durations are only upper bounds */
    uint64_t legacy_waits;     /* of the other marked: a wait for or by the legacy default stream */
    uint32_t raw_bucket_first; /* histogram of the raw brackets */
    uint32_t raw_bucket_count;
    uint64_t estimated;          /* the timed, and the sampled out that they stand for */
    double estimated_ns;         /* sum of the durations of the estimated */
    double estimated_square_ns2; /* sum of the squares of those durations */
    double variance_ns2;         /* of estimated_ns; 0: nothing was sampled out */
    double third_ns3;            /* its third central moment */
    double freedom_ns4;          /* variance_ns2 squared, by degrees of freedom */
    double with_others_ns2;      /* covariance of estimated_ns with the sum of all other rows' */
};

struct ct_file_shape {
    uint32_t grid[3];
    uint32_t block[3];
    uint64_t dynamic_shared_bytes;
    uint64_t count;
};

struct ct_file_bucket {
    uint64_t bucket; /* ct_hist_bucket() of hist.h */
    uint64_t count;  /* operations: each as often as it stands for others that were sampled out */
};

enum ct_api_flag {
    CT_API_RUNTIME = 1u << 0, /* a function of the runtime; otherwise of the driver */
};

struct ct_file_api {
    uint32_t name;  /* string: the exported symbol, suffixes included */
    uint32_t flags; /* enum ct_api_flag */
    uint64_t calls; /* timed or not */
    uint64_t errors;
    uint64_t total_ns; /* of all calls: an estimate where not all were timed */
    uint64_t min_ns;   /* of the timed */
    uint64_t max_ns;
    uint64_t sampled;  /* calls that histogram and square_ns2 stand for; fewer if a burst was cut */
    double square_ns2; /* sum of squared durations of the sampled */
    uint32_t bucket_first;
    uint32_t bucket_count;
    uint64_t timed; /* one by one; 0: all */
};

struct ct_file_stream {
    uint64_t id; /* ordinal of the stream in the process, from 1 */
    uint64_t operations;
    uint64_t waits; /* cuStreamWaitEvent and kin */
    uint32_t device;
    uint32_t flags; /* cuStreamCreate's; UINT32_MAX: not seen being created */
    int32_t priority;
    uint32_t special;   /* 0: created, 1: legacy default stream, 2: per-thread default stream */
    uint64_t timed;     /* operations with a duration: all figures below are of these */
    uint64_t first_ns;  /* start of the first, from the start of the process */
    uint64_t last_ns;   /* end of the last */
    uint64_t busy_ns;   /* time when one of them ran */
    uint64_t beside_ns; /* time when one of another stream of the device ran as well */
    uint64_t gaps;      /* times between two operations */
    uint64_t longest_gap_ns;
    uint32_t name;         /* string: the program's name for it (NVTX); empty: none */
    uint32_t context_name; /* string: the program's name for its context */
};

/* States of a device without work, between its first operation's start and its last one's end. */
#define CT_IDLES(X)                                                                                \
    X(HOST, "the next operation had not been submitted")                                           \
    X(SYNC, "the same, and the host had waited for the GPU before it went on")                     \
    X(QUEUED, "the next operation had been submitted, but did not begin")                          \
    X(MEASURING, "what timing the operations costs")                                               \
    X(OFF, "recording was switched off")                                                           \
    X(UNKNOWN, "not known")

enum ct_idle {
#define X(id, text) CT_IDLE_##id,
    CT_IDLES(X)
#undef X
        CT_IDLE_COUNT
};
#define CT_FILE_IDLES 8 /* room in the file; CT_IDLE_COUNT must not exceed it */

struct ct_file_activity {
    uint32_t device;     /* index into CT_SECTION_DEVICES */
    uint32_t reserved;   /* zero */
    uint64_t operations; /* timed ones, which alone are known; a batch or graph is one */
    uint64_t first_ns;   /* start of the first, from the start of the process */
    uint64_t last_ns;    /* end of the last */
    uint64_t busy_ns;    /* time when any operation ran */
    uint64_t compute_ns; /* time when kernels, graphs or sets ran */
    uint64_t copy_ns;    /* time when copies or prefetches ran */
    uint64_t both_ns;    /* time when some of either ran */
    uint64_t beside_ns;  /* time when two streams at least had one running */
    uint64_t idle_ns[CT_FILE_IDLES]; /* by enum ct_idle: the rest of the time */
    uint64_t gaps;                   /* times between two operations when none ran */
    uint64_t longest_gap_ns;
    uint64_t misplaced_ns; /* time of operations seen too late to be put into their place */
    uint64_t turns;        /* changes of turn, between the legacy default stream and the others */
};

struct ct_file_gap {
    uint32_t device; /* index into CT_SECTION_DEVICES */
    uint32_t octave; /* gaps of 2^octave ns and more, less than twice that; 0: also those of none */
    uint64_t count;
    uint64_t idle_ns[CT_FILE_IDLES]; /* by enum ct_idle: one gap may have several reasons */
};

/* Kinds of memory, numbered as CUPTI and nsys do. */
#define CT_MEMORIES(X)                                                                             \
    X(UNKNOWN, "unknown")                                                                          \
    X(PAGEABLE, "pageable")                                                                        \
    X(PINNED, "pinned")                                                                            \
    X(DEVICE, "device")                                                                            \
    X(ARRAY, "array")                                                                              \
    X(MANAGED, "managed")

enum ct_memory {
#define X(id, text) CT_MEMORY_##id,
    CT_MEMORIES(X)
#undef X
        CT_MEMORY_COUNT
};

struct ct_file_transfer {
    uint32_t row;    /* index into CT_SECTION_ROWS; that row's kind is CT_ROW_COPY */
    uint32_t octave; /* copies of 2^octave bytes and more, less than twice that */
    uint32_t from;   /* enum ct_memory */
    uint32_t to;
    uint64_t timed; /* timed copies: the figures below are theirs */
    uint64_t bytes;
    uint64_t total_ns;
};

/* Kinds of allocations. The first is the sum of those that take up a device's own memory. */
#define CT_ALLOCATIONS(X)                                                                          \
    X(ON_DEVICE, "device memory in all")                                                           \
    X(DEVICE, "device")                                                                            \
    X(POOL, "device, in stream order")                                                             \
    X(PHYSICAL, "device, physical")                                                                \
    X(MANAGED, "managed")                                                                          \
    X(PINNED, "pinned host")                                                                       \
    X(REGISTERED, "registered host")

enum ct_allocation {
#define X(id, text) CT_ALLOCATION_##id,
    CT_ALLOCATIONS(X)
#undef X
        CT_ALLOCATION_COUNT
};

static inline int ct_allocation_is_on_device(uint32_t kind)
{
    return kind >= CT_ALLOCATION_DEVICE && kind <= CT_ALLOCATION_PHYSICAL;
}

/*
 * Allocations of a device and a kind. A block is held from the call that allocates it to the one
 * that frees it, also where the free is only queued in a stream, or a pool keeps the memory.
 */
struct ct_file_memory {
    uint32_t device;            /* index into CT_SECTION_DEVICES: the current context's, */
                                /* or the one that physical memory is on */
    uint32_t kind;              /* enum ct_allocation */
    uint64_t allocations;       /* that succeeded */
    uint64_t bytes;             /* bytes of these as asked for; pitched rows: as they became */
    uint64_t failed;            /* allocations that failed; they count nowhere else */
    uint64_t failed_most_bytes; /* the largest that failed */
    uint64_t frees;             /* frees of blocks that were held */
    uint64_t ended;             /* blocks that went with their context */
    uint64_t unseen_frees;      /* blocks whose address was allocated again */
    uint64_t unknown_frees;     /* frees of memory not held, by the function's kind */
    uint64_t unfollowed;        /* allocations that found no room to be held */
    uint64_t unfollowed_bytes;
    uint64_t held; /* blocks held when the file was written, or at the process's end */
    uint64_t held_bytes;
    uint64_t peak_bytes; /* most held at one time; of a merged file in one of its processes */
};

/* Blocks of one size that were still held when the process ended. */
struct ct_file_block {
    uint32_t device; /* index into CT_SECTION_DEVICES */
    uint32_t kind;   /* enum ct_allocation; 0: all that are not listed, of any kind and device */
    uint64_t bytes;  /* bytes of each block; of all that are not listed together */
    uint64_t count;
};

/*
 * NCCL's operations. Sends and receives that one communicator has in one group are one operation:
 * an exchange, or an all-to-all if it sends as much to each rank, from 0 upwards, and receives
 * likewise.
 */
#define CT_COLLECTIVES(X)                                                                          \
    X(ALL_GATHER, "AllGather")                                                                     \
    X(ALL_REDUCE, "AllReduce")                                                                     \
    X(ALL_TO_ALL, "AlltoAll")                                                                      \
    X(BROADCAST, "Broadcast")                                                                      \
    X(RECV, "Recv")                                                                                \
    X(REDUCE, "Reduce")                                                                            \
    X(REDUCE_SCATTER, "ReduceScatter")                                                             \
    X(SEND, "Send")                                                                                \
    X(SEND_RECV, "SendRecv")

enum ct_collective {
#define X(id, text) CT_COLLECTIVE_##id,
    CT_COLLECTIVES(X)
#undef X
        CT_COLLECTIVE_COUNT
};

/*
 * Calls of one operation, by type of data, size of the communicator and size of the message, as
 * nccl-tests has it: AllGather's and ReduceScatter's is that of all ranks' data together, an
 * exchange's the larger of sent and received bytes. Times are those of the kernels that were
 * launched in the call, or in the ncclGroupEnd of its group; those of a group of several operations
 * are shared among them by bytes.
 */
struct ct_file_collective {
    uint32_t collective; /* enum ct_collective */
    uint32_t datatype;   /* ncclDataType_t, plus one; 0: several, or not known */
    uint32_t ranks;      /* the communicator's size; 0: not known */
    uint32_t octave;   /* messages of 2^octave bytes and more, less than twice that; 0: also none */
    uint64_t calls;    /* that succeeded */
    uint64_t failed;   /* calls that failed; they count nowhere else */
    uint64_t captured; /* calls whose kernels went into a graph: they have no time */
    uint64_t bytes;    /* of all calls */
    uint64_t timed;    /* calls that launched kernels which have all been timed */
    uint64_t shared;   /* timed calls that shared their kernels with other operations */
    uint64_t timed_bytes; /* of the timed calls */
    uint64_t total_ns;    /* time of their kernels */
    uint64_t min_ns;      /* of a call */
    uint64_t max_ns;
};

/* Work of the kernel driver on managed memory, by the names that nvprof's table has. */
#define CT_UNIFIEDS(X)                                                                             \
    X(HTOD, "Host To Device")                                                                      \
    X(DTOH, "Device To Host")                                                                      \
    X(DTOD, "Device To Device")                                                                    \
    X(GPU_FAULTS, "Gpu page fault groups")                                                         \
    X(CPU_FAULTS, "CPU page faults")

enum ct_unified {
#define X(id, text) CT_UNIFIED_##id,
    CT_UNIFIEDS(X)
#undef X
        CT_UNIFIED_COUNT
};

/* Reasons why memory moved, numbered as the driver does. */
#define CT_UNIFIED_CAUSES(X)                                                                       \
    X(OTHER, "otherwise")                                                                          \
    X(ASKED, "asked for")                                                                          \
    X(FAULT, "after faults")                                                                       \
    X(AHEAD, "around faults")                                                                      \
    X(EVICTION, "evicted")                                                                         \
    X(ACCESS_COUNTER, "often accessed")

enum ct_unified_cause {
#define X(id, text) CT_UNIFIED_CAUSE_##id,
    CT_UNIFIED_CAUSES(X)
#undef X
        CT_UNIFIED_CAUSE_COUNT
};
#define CT_FILE_UNIFIED_CAUSES 8 /* room in the file; CT_UNIFIED_CAUSE_COUNT must not exceed it */

/*
 * Managed memory of a device and a kind: the device that memory moved to, or to the host from, or
 * that faulted. CPU page faults have no device and stand at the first one.
 */
struct ct_file_unified {
    uint32_t device; /* index into CT_SECTION_DEVICES */
    uint32_t kind;   /* enum ct_unified */
    uint64_t count;  /* migrations, groups of faults that one replay ended, or faults */
    uint64_t faults; /* faults in the groups */
    uint64_t bytes;  /* migrations' bytes, as the next three */
    uint64_t min_bytes;
    uint64_t max_bytes;
    uint64_t cause_bytes[CT_FILE_UNIFIED_CAUSES]; /* by enum ct_unified_cause */
    uint64_t timed; /* those that have a time; the next three are theirs */
    uint64_t total_ns;
    uint64_t min_ns;
    uint64_t max_ns;
    uint64_t first_address; /* lowest and highest address that moved or faulted */
    uint64_t last_address;
};

/* Nodes of a graph's row that are a kernel of one name, a copy in one direction, or a set. */
struct ct_file_node {
    uint32_t graph_row; /* index into CT_SECTION_ROWS */
    uint32_t name;      /* string: mangled kernel name; "[CUDA memcpy DtoH]" and the like */
    uint64_t count;     /* such nodes in the graph that are switched on */
    uint64_t timed;     /* runs of these with a duration: all figures below are theirs */
    uint64_t total_ns;  /* a part of the graph's time */
    uint64_t min_ns;
    uint64_t max_ns;
    double square_ns2;     /* sum of squared durations */
    uint64_t raw_total_ns; /* from event node to event node */
    uint64_t doubt_ns;     /* sum of each duration's error at most, either way */
    uint32_t kind;         /* enum ct_row_kind: kernel, copy or set; 0, in older files: kernel */
    uint32_t detail;       /* copies: enum ct_direction */
    uint64_t bytes;        /* copies and sets: bytes of all runs */
};

enum ct_note_kind {
    CT_NOTE_WARNING = 1,     /* text is a sentence */
    CT_NOTE_NOT_WRAPPED = 2, /* text is an entry point that was left alone, or not read */
};

struct ct_file_note {
    uint32_t kind; /* enum ct_note_kind */
    uint32_t text; /* string */
    uint64_t count;
};

/*
 * A merged file: its CT_SECTION_PROCESS describes the processes as one, CT_SECTION_PROCESSES lists
 * them, and the two sections below say how they differ. Other files have none of the three.
 */
struct ct_file_total {   /* totals of the process with the same index */
    uint64_t gpu_ns;     /* operations on the GPU, those without a time as long as the others */
    uint64_t compute_ns; /* kernels and graphs alone */
    uint64_t api_ns;     /* host time in calls */
    uint64_t operations; /* operations that ran on the GPU */
    uint64_t calls;
};

/* One row or function over the processes that have a time of it. */
struct ct_file_spread {
    uint32_t section;   /* CT_SECTION_ROWS or CT_SECTION_APIS */
    uint32_t index;     /* into that section */
    uint32_t least;     /* index into CT_SECTION_PROCESSES: the process with min_ns */
    uint32_t most;      /* the process with max_ns; the first if several have as much */
    uint64_t processes; /* processes that have a time of it */
    uint64_t min_ns;    /* processes' totals: least, most, sum and sum of squares */
    uint64_t max_ns;
    double total_ns;
    double square_ns2;
    double mean_ns; /* processes' means of one operation or call: sum and sum of squares */
    double mean_square_ns2;
};

/*
 * Ranges of one name in one place: a range is in the one that was opened last in its thread and was
 * still open, so a thread's ranges are a tree. Outer ones come first in the section.
 */
#define CT_RANGE_STYLES(X)                                                                         \
    X(PUSH_POP, "PushPop")                                                                         \
    X(START_END, "StartEnd")                                                                       \
    X(MARK, "Mark")

enum ct_range_style {
#define X(id, text) CT_RANGE_##id,
    CT_RANGE_STYLES(X)
#undef X
        CT_RANGE_STYLE_COUNT
};

#define CT_FILE_RANGE_DEPTH 64 /* ranges are in fewer others */

struct ct_file_thread {
    uint32_t tid;   /* the system's number, of the first of them */
    uint32_t name;  /* string, the name given by NVTX; "": none */
    uint64_t count; /* threads, one after the other, that this stands for */
};

struct ct_file_range {
    uint32_t parent;   /* the range this one was in, as its index plus one; 0: in none */
    uint32_t thread;   /* index into CT_SECTION_THREADS */
    uint32_t domain;   /* string; "": the default one */
    uint32_t name;     /* string */
    uint32_t style;    /* enum ct_range_style */
    uint32_t color;    /* the first one's: alpha, red, green, blue from the highest byte; 0: none */
    uint64_t count;    /* ranges that ended, or marks */
    uint64_t unclosed; /* ranges that had not ended at this writing, or at their thread's end */
    uint64_t total_ns; /* time of those that ended, as all below */
    uint64_t min_ns;
    uint64_t max_ns;
    uint64_t sampled;  /* ranges in the histogram and square_ns2; fewer if a burst was cut */
    double square_ns2; /* sum of squared durations of the sampled */
    uint32_t bucket_first;
    uint32_t bucket_count;
};

/* A thread's operations or calls while this was the last range it had open. */
struct ct_file_cell {
    uint32_t range;    /* index into CT_SECTION_RANGES */
    uint32_t section;  /* CT_SECTION_ROWS or CT_SECTION_APIS */
    uint32_t index;    /* into that section */
    uint32_t reserved; /* zero */
    uint64_t count;    /* operations with a duration, or calls */
    uint64_t total_ns;
    uint64_t min_ns;
    uint64_t max_ns;
    double square_ns2; /* operations: sum of squared durations */
};

#define CT_FILE_SIZES(X)                                                                           \
    X(ct_file_commit, 32)                                                                          \
    X(ct_file_header, CT_FILE_HEADER_BYTES) X(ct_file_payload, 8) X(ct_file_section, 24)           \
        X(ct_file_process, 64) X(ct_file_device, 120) X(ct_file_row, 368) X(ct_file_shape, 40)     \
            X(ct_file_bucket, 16) X(ct_file_api, 80) X(ct_file_stream, 104) X(ct_file_node, 88)    \
                X(ct_file_note, 16) X(ct_file_activity, 168) X(ct_file_gap, 80)                    \
                    X(ct_file_transfer, 40) X(ct_file_total, 40) X(ct_file_spread, 72)             \
                        X(ct_file_thread, 16) X(ct_file_range, 88) X(ct_file_cell, 56)             \
                            X(ct_file_memory, 112) X(ct_file_block, 24) X(ct_file_collective, 96)  \
                                X(ct_file_unified, 160) X(ct_file_line, 16) X(ct_file_frame, 16)   \
                                    X(ct_file_stack, 32) X(ct_file_module, 16)                     \
                                        X(ct_file_inside, 32) X(ct_file_object, 8)                 \
                                            X(ct_file_address, 16)

#define CT_FILE_CHECK(type, size)                                                                  \
    _Static_assert(sizeof(struct type) == (size) && (size) % 8 == 0, #type " has a fixed size")
#define X(type, size) CT_FILE_CHECK(type, size);
CT_FILE_SIZES(X)
#undef X
_Static_assert(CT_LOSS_COUNT <= CT_FILE_LOSSES, "losses outgrow the file");
_Static_assert(CT_IDLE_COUNT <= CT_FILE_IDLES, "reasons to be idle outgrow the file");
_Static_assert(CT_UNIFIED_CAUSE_COUNT <= CT_FILE_UNIFIED_CAUSES, "causes outgrow the file");

#endif
