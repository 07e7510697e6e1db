/* SPDX-License-Identifier: MIT */
/*
 * The model behind the simulated libcuda.so.1. CUDA's opaque handles are pointers to the structures
 * below. One lock (entry.c) guards them all; every function here wants it held but where it says
 * otherwise. Nothing waits with the lock held: see sim_wait_until.
 */
#ifndef SIM_H
#define SIM_H

/* Without this cuda.h renames functions: cuMemAlloc would mean cuMemAlloc_v2. */
#include "cuda/newer_api.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_DEVICES 16
#define SIM_CONNECTIONS 32
#define SIM_COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* ---- handles (pool.c) ---- */

enum sim_type {
    SIM_CONTEXT,
    SIM_STREAM,
    SIM_EVENT,
    SIM_MODULE,
    SIM_LIBRARY,
    SIM_FUNCTION,
    SIM_KERNEL,
    SIM_GRAPH,
    SIM_NODE,
    SIM_EXEC,
    SIM_ARRAY,
    SIM_GREEN,
    SIM_MEMORY_POOL,
    SIM_TYPES
};

/* First in every structure that a handle points to. */
struct sim_object {
    bool alive;
    uint32_t next_free; /* index + 1 */
};

void *sim_take(enum sim_type type);
void sim_give(enum sim_type type, void *object);
/* INVALID_HANDLE for what never was a handle; a destroyed one is a breach. */
CUresult sim_check(enum sim_type type, const void *handle);
bool sim_is(enum sim_type type, const void *handle);
uint64_t sim_alive(enum sim_type type);
const char *sim_type_name(enum sim_type type);
/* Calls visit for each living object until it returns true; returns that object or NULL. */
void *sim_each(enum sim_type type, bool (*visit)(void *object, void *arg), void *arg);

/* Misuse that no sound program makes: reports it and ends the process, unless CUDASIM_STRICT=0. */
void sim_breach(const char *what);

/* ---- what work is (work.c) ---- */

enum sim_work_kind {
    SIM_WORK_EMPTY,
    SIM_WORK_KERNEL,
    SIM_WORK_COPY,
    SIM_WORK_SET,
    SIM_WORK_PREFETCH,
    SIM_WORK_GRAPH,
    SIM_WORK_BATCH,
    SIM_WORK_HOST,
    SIM_WORK_CALLBACK,
    SIM_WORK_RECORD,
    SIM_WORK_WAIT,
    SIM_WORK_WAIT_VALUE,
    SIM_WORK_WRITE_VALUE,
    SIM_WORK_FREE,
};

/* As measured on an H200: two timing events back to back read so much. */
#define SIM_EVENT_NS 1280
#define SIM_LINK_RATE 25

struct sim_rect {
    char *to;
    const char *from;
    size_t width, height, depth;
    size_t to_pitch, from_pitch, to_slice, from_slice;
};

struct sim_fill {
    char *to;
    uint32_t value;
    unsigned element_bytes;
    size_t pitch, width, height; /* width in elements */
};

struct sim_launch {
    CUfunction function;
    CUkernel kernel; /* one of the two */
    uint32_t grid[3], block[3], shared_bytes;
    uint64_t argument;  /* the first one, of kernels whose name says that it is read */
    uint64_t second;    /* argument of the self-timed kernels */
    void *arguments[1]; /* points at it, for the graph calls that give it back */
};

/* Position in a stream: that many operations of the stream with that id. */
struct sim_mark {
    CUstream stream;
    uint64_t stream_id;
    uint64_t position;
};

struct sim_work {
    enum sim_work_kind kind;
    const char *name; /* what the statistics call it; interned or a constant */
    int64_t duration_ns;
    int64_t graph_offset_ns; /* in a plan: when it begins; a record: its stamp */
    int64_t end_ns;          /* virtual time; not in a plan */
    struct sim_mark after;   /* a graph: its launch before this one, */
    int64_t after_ns;        /* and when that one ended */
    bool is_profilers;       /* no truth */
    uint64_t bytes;
    union {
        struct sim_launch launch;
        struct {
            struct sim_rect *rects; /* count of them, owned; NULL: `rect` */
            size_t count;
            struct sim_rect rect;
        } copy;
        struct sim_fill fill;
        struct sim_plan *plan;
        struct {
            CUhostFn function;
            CUstreamCallback callback;
            CUstream stream;
            void *data;
        } host;
        CUevent event;
        struct {
            volatile void *address;
            uint64_t value;
            unsigned flags, bytes;
        } value;
        CUdeviceptr memory;
    };
};

/* What a graph became when it was instantiated, shared by the exec and its pending launches; or the
 * parts of a batch. */
struct sim_plan {
    uint32_t references;
    size_t count;
    struct sim_work *works;
    int64_t duration_ns;
    bool has_host_work, has_events;
};

bool sim_work_gate_open(const struct sim_work *w);
/* Copies and sets memory, writes values; counts what ran. Host functions are the worker's. */
void sim_work_perform(struct sim_work *w);
void sim_work_perform_in_graph(struct sim_work *w);
void sim_work_drop(struct sim_work *w);
struct sim_work sim_work_clone(const struct sim_work *w);
int64_t sim_copy_ns(const char *direction, uint64_t bytes);
int64_t sim_set_ns(uint64_t bytes);
int64_t sim_kernel_ns(const char *name, const struct sim_launch *l);
bool sim_name_starts(const char *kernel, const char *word); /* mangled names as well */
bool sim_reads_argument(const char *kernel);
void sim_plan_release(struct sim_plan *p);
/* The kernels with which a profiler measures the device (selftimed.c). */
bool sim_is_selftimed(const char *kernel);
bool sim_selftimed_is_shaped(const char *kernel, const struct sim_launch *l);
int64_t sim_selftimed_ns(const char *kernel, const struct sim_launch *l);
void sim_selftimed_submit(struct sim_work *w);
void sim_selftimed_perform(const struct sim_work *w);
/* What calls and graph nodes ask for (launch.c, graph.c, copy.c, set.c). */
CUresult sim_kernel_work(CUfunction handle, struct sim_launch l, void **parameters, void **extra,
                         struct sim_work *out);
CUresult sim_kernel_of_node(const CUDA_KERNEL_NODE_PARAMS *p, struct sim_work *out);
CUresult sim_copy_of_node(const CUDA_MEMCPY3D *p, struct sim_work *out);
CUresult sim_copy_line(uintptr_t to, uintptr_t from, size_t bytes, struct sim_work *out);
CUresult sim_prefetch_work(CUdeviceptr p, size_t bytes, bool to_host, struct sim_work *out);
struct sim_work sim_set_work(CUdeviceptr to, size_t pitch, uint32_t value, unsigned element_bytes,
                             size_t width, size_t height);

/* ---- statistics of what ran (truth.c) ---- */

/* The same text at an address that stays. */
const char *sim_intern(const char *text);
void sim_truth_add(const char *kind, const char *name, int64_t duration_ns, uint64_t bytes);
void sim_truth_write(const char *path);
/* When an operation runs, for CUDASIM_SPANS. */
void sim_truth_span(const struct sim_work *w, uint64_t stream_id, int64_t end_ns);

/* ---- threads and time (entry.c, queue.c) ---- */

#define SIM_STACK 32

struct sim_thread {
    uint32_t id;        /* 0: not seen yet */
    bool per_thread;    /* the call in progress came through a twin */
    const void *caller; /* where it returns to */
    long slow_us;       /* so long after it is done */
    CUstreamCaptureMode mode;
    int depth;
    CUcontext stack[SIM_STACK];
    int64_t host_ns; /* this thread's virtual clock: only waiting moves it */
};

extern __thread struct sim_thread sim_self;

void sim_lock(void);
void sim_unlock(void);

/* Polls the gates and releases the lock while it waits. */
void sim_wait_until(bool (*done)(void *arg), void *arg);
void sim_wake(void);
/* Until something changes: a wake-up, or with operations pending a short while. */
void sim_wait_signal(void);
bool sim_progress(void);
/* With CUDASIM_HOST_NS: goes on to when the next operation may be complete. False: there is none.
 */
bool sim_skip_wait(void);

/* ---- objects ---- */

struct CUctx_st {
    struct sim_object object;
    int device;
    bool primary, active;
    int references;
    unsigned flags;
    uint64_t id;
    CUstream legacy;
    CUstream streams;                       /* all of the context */
    CUgreenCtx green;                       /* of a green context's converted form */
    int64_t connection_ns[SIM_CONNECTIONS]; /* when each takes in what comes next */
};

struct sim_op {
    struct sim_op *next;
    uint64_t visible_real_ns; /* CUDASIM_LATENCY_US, CUDASIM_REAL_TIME */
    bool with_worker, handed, worker_done;
    size_t wait_count;
    struct sim_mark *waits;
    struct sim_work work;
};

enum sim_stream_kind { SIM_STREAM_PLAIN, SIM_STREAM_LEGACY, SIM_STREAM_PER_THREAD };

struct CUstream_st {
    struct sim_object object;
    enum sim_stream_kind kind;
    CUcontext context;
    CUgreenCtx green;
    CUstream next, previous; /* streams of the context */
    uint32_t thread;         /* owner of a per-thread stream */
    unsigned flags;
    int priority;
    uint64_t id;
    unsigned connection; /* that carries what it has ahead */
    bool doomed;         /* destroyed with work pending */
    bool is_profilers;   /* a self-timed kernel was the first work in it */
    int64_t tail_ns;
    uint64_t due_real_ns; /* with CUDASIM_REAL_TIME: when all of it is complete */
    uint64_t submitted, done;
    struct sim_op *first, *last;
    CUstream next_active;
    struct sim_capture *capture;
    struct sim_nodes *leaves; /* while capturing: what the next node depends on */
};

struct CUevent_st {
    struct sim_object object;
    CUcontext context;
    unsigned flags;
    bool recorded;
    int64_t stamp_ns;
    struct sim_mark mark;
    bool captured; /* last recorded into a capture */
    uint64_t capture_id;
    struct sim_nodes *leaves; /* of that capture at that point */
};

struct CUmod_st {
    struct sim_object object;
    CUcontext context;
    CUlibrary library; /* whose code this is */
    CUfunction functions;
    struct sim_global *globals;
};

struct CUlib_st {
    struct sim_object object;
    CUkernel kernels;
    CUmodule modules[SIM_DEVICES];
    struct sim_global *globals;
};

struct CUfunc_st {
    struct sim_object object;
    char *name; /* given out; spoilt when the module goes */
    const char *interned;
    CUmodule module;
    CUfunction next;
    uint32_t block[3], shared_bytes; /* of the old launch calls */
    uint64_t argument;
    int attribute[CU_FUNC_ATTRIBUTE_MAX];
};

struct CUkern_st {
    struct sim_object object;
    char *name;
    const char *interned;
    CUlibrary library;
    CUkernel next;
    CUfunction functions[SIM_DEVICES];
};

struct CUarray_st {
    struct sim_object object;
    CUDA_ARRAY3D_DESCRIPTOR shape;
    CUcontext context;
    size_t element_bytes;
    char *memory;
};

struct CUgreenCtx_st {
    struct sim_object object;
    CUcontext context; /* the converted form */
    CUcontext primary;
    unsigned sms;
    uint64_t id;
};

struct CUmemPoolHandle_st {
    struct sim_object object;
    int device;
    uint64_t threshold;
};

/* ---- contexts and devices (context.c) ---- */

extern const size_t sim_device_bytes;
CUcontext sim_current(void);
/* The current context, or why there is none to work with. */
CUresult sim_need_context(CUcontext *out);
CUcontext sim_root(CUcontext c); /* the primary one behind a green one */
CUcontext sim_primary(int device);
bool sim_valid_device(CUdevice device);
void sim_context_end(CUcontext c);

/* ---- streams and queues (stream.c, queue.c) ---- */

CUresult sim_stream_of(CUstream handle, CUstream *out);
CUstream sim_stream_new(CUcontext c, enum sim_stream_kind kind, unsigned flags, int priority);
void sim_stream_end(CUstream s);
bool sim_stream_blocking(CUstream s);
/* Queues or runs the work; takes over what it owns. Captures it when the stream captures. */
CUresult sim_submit(CUstream s, struct sim_work *w);
CUresult sim_submit_to(CUstream handle, struct sim_work *w);
/* And waits for its end, as synchronous calls do. */
CUresult sim_submit_and_wait(CUstream handle, struct sim_work *w);
struct sim_mark sim_mark_of(CUstream s);
bool sim_reached(const struct sim_mark *m);
bool sim_graph_has_passed(CUevent e);
void sim_wait_stream(CUstream s);
void sim_wait_context(CUcontext c);
uint64_t sim_pending(void);
/* With the device's clock being the host's: what holds up what (connection.c). */
int64_t sim_connection_begin(CUstream s, const struct sim_work *w, int64_t start_ns);
void sim_connection_end(CUstream s, const struct sim_work *w, int64_t begun_ns, int64_t end_ns);
bool sim_idle(void); /* without a look at the gates */
/* Hands an operation with host functions to the worker thread (host.c). */
void sim_worker_take(struct sim_op *op);
void sim_worker_start(void);

/* ---- memory (memory.c) ---- */

enum sim_place { SIM_UNKNOWN, SIM_HOST, SIM_DEVICE, SIM_MANAGED };

struct sim_block {
    uintptr_t start;
    size_t bytes;
    enum sim_place place;
    bool ours;   /* else registered */
    bool hidden; /* a graph's, not launched yet: the driver tells nothing of it */
    unsigned flags;
    uint64_t id;
    CUcontext context;
};

CUresult sim_memory_new(size_t bytes, enum sim_place place, unsigned flags, void **out);
CUresult sim_memory_free(uintptr_t p, enum sim_place place);
const struct sim_block *sim_block_of(uintptr_t p);
void sim_memory_hide(uintptr_t p, bool hidden);
void sim_memory_of_context_gone(CUcontext c);
uint64_t sim_memory_used(int device);

struct sim_global {
    struct sim_global *next;
    char *name;
    void *memory;
};

#define SIM_GLOBAL_BYTES ((size_t)1 << 24)
/* The variable of that name, made at first sight. */
struct sim_global *sim_global_of(struct sim_global **list, const char *name);
void sim_globals_free(struct sim_global **list);

/* ---- modules (module.c) ---- */

/* NULL: it is none. */
CUfunction sim_function_of(CUfunction handle);
void sim_modules_of_context_gone(CUcontext c);
const char *sim_launched_name(const struct sim_launch *l);

/* ---- capture (capture.c) ---- */

struct sim_nodes {
    size_t count;
    CUgraphNode node[];
};

struct sim_capture {
    struct sim_capture *next;
    uint64_t id;
    CUgraph graph;
    bool graph_is_callers; /* cuStreamBeginCaptureToGraph */
    CUstream origin;
    uint32_t thread;
    CUstreamCaptureMode mode;
    bool invalid, unjoined;
    bool recaptures;       /* cuStreamBeginRecaptureToGraph: no node is new */
    CUgraphNode next_node; /* that has to come next then */
    CUgraphRecaptureCallback callback;
    void *data;
};

extern struct sim_capture *sim_captures;
/* Of calls that may not run beside a capture: 900 and invalidated captures, or success. */
CUresult sim_unsafe(void);
/* The legacy stream may not be used while a blocking stream of the context captures. */
CUresult sim_legacy_use(CUcontext c, bool invalidate);
CUresult sim_capture_add(CUstream s, const struct sim_work *w, CUgraphNodeType type);
CUresult sim_capture_record(CUevent e, CUstream s);
CUresult sim_capture_wait(CUstream s, CUevent e);
/* What waiting or asking for a captured event does, whatever the thread's mode: 907 and an invalid
 * capture if it is under way. */
CUresult sim_capture_look(CUevent e);
CUresult sim_capture_graph(CUstream s, CUgraphExec e); /* becomes a child graph */
/* What synchronising with a capturing stream does: 900 and an invalid capture. */
CUresult sim_capture_forbid(CUstream s);
void sim_capture_stream_ends(CUstream s);
struct sim_nodes *sim_nodes_join(const struct sim_nodes *a, const struct sim_nodes *b);
struct sim_nodes *sim_nodes_of(const CUgraphNode *node, size_t count);

/* ---- graphs (graph.c) ---- */

struct CUgraphNode_st {
    struct sim_object object;
    CUgraph graph;
    CUgraphNode next;     /* in order of creation */
    CUgraphNode original; /* of a clone */
    CUgraphNodeType type;
    struct sim_nodes *dependencies;
    struct sim_work work;
    CUgraph child;
    bool visited;
    size_t place; /* of the exec's node that ends with it, while that is made */
    CUDA_MEMCPY3D copy;
    CUDA_MEMSET_NODE_PARAMS set;
    CUDA_CONDITIONAL_NODE_PARAMS condition; /* owns the bodies */
};

struct CUgraph_st {
    struct sim_object object;
    CUgraphNode first;
    bool owned_by_node; /* a child graph */
};

struct CUgraphExec_st {
    struct sim_object object;
    size_t count;
    struct sim_exec_node {
        /* Of the graph it was made from, which may have gone: only compared. NULL: where a child
         * graph begins or ends. */
        CUgraphNode node;
        CUgraphNodeType type;
        bool enabled;
        struct sim_work work;
        size_t *after; /* nodes before this one that it waits for */
        size_t after_count;
    } * nodes;
    struct sim_plan *plan;
    unsigned long long flags;
    struct sim_mark last_launch; /* the next one waits for it, in whatever stream */
    int64_t last_end_ns;
};

CUgraph sim_graph_new(void);
void sim_graph_free(CUgraph g);
CUgraph sim_graph_clone(CUgraph g);
CUgraphNode sim_node_add(CUgraph g, CUgraphNodeType type, const struct sim_nodes *dependencies);
size_t sim_graph_order(CUgraph g, CUgraphNode *out, size_t room); /* 0: a cycle */
size_t sim_graph_count(CUgraph g);
/* What a node is made of, by the calls for one type or for any; unmodelled types NOT_SUPPORTED. */
struct sim_content {
    CUgraphNodeType type;
    struct sim_work work;
    CUgraph child;                           /* the caller's, to be cloned */
    CUDA_CONDITIONAL_NODE_PARAMS *condition; /* the caller's, to be answered */
    CUDA_MEMCPY3D copy;
    CUDA_MEMSET_NODE_PARAMS set;
};
CUresult sim_content_of(CUgraphNodeParams *p, struct sim_content *out);
CUresult sim_content_of_set(const CUDA_MEMSET_NODE_PARAMS *p, struct sim_content *out);
CUresult sim_content_of_copy(const CUDA_MEMCPY3D *p, struct sim_content *out);
CUresult sim_content_of_host(const CUDA_HOST_NODE_PARAMS *p, struct sim_content *out);
CUresult sim_content_of_event(CUgraphNodeType type, CUevent e, struct sim_content *out);
CUresult sim_node_has_type(CUgraphNode n, CUgraphNodeType type);
/* A graph with the nodes of the exec, one after the other. */
CUgraph sim_graph_of_exec(CUgraphExec e);

/* ---- conditions, and graphs as executed (unfold.c) ---- */

/* Makes the bodies, and tells the caller of them. */
CUresult sim_node_condition(CUgraphNode n, CUDA_CONDITIONAL_NODE_PARAMS *p);
void sim_node_bodies_free(CUgraphNode n);
bool sim_graph_has_condition(CUgraph g);
/* Adds the graph's nodes to the exec's, each behind those it depends on. */
CUresult sim_unfold(CUgraph g, CUgraphExec e);

/* ---- settings (control.c) ---- */

struct sim_settings {
    int devices;
    int driver_version;
    bool strict;
    uint64_t latency_ns;
    int64_t event_ns;
    int64_t link_rate;      /* bytes in a nanosecond, to the host or from it */
    int64_t graph_event_ns; /* more, where it is a node */
    bool real_time;
    uint64_t host_ns;  /* 0: the machine's clock */
    bool host_clock;   /* the device's clock is the host's */
    int64_t slice_ns;  /* every other one of these the device is another process's */
    bool copy_engines; /* see README.md */
    const char *name;  /* of the devices */
    const char *truth_path, *spans_path, *log_path;
};

extern struct sim_settings sim_settings;
extern int sim_form_version; /* of the driver that this build is, form.c */
/* Before the call, without the lock: slow and hanging calls; true: *result is the injected one. */
bool sim_control_intercept(uint32_t id, const char *name, CUresult *result);
int64_t sim_control_kernel_ns(const char *name); /* -1: not named in CUDASIM_KERNELS */
void sim_log(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool sim_log_on(void);
void sim_log_open_things(void); /* leaks.c */

#endif
