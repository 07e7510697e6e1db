/* SPDX-License-Identifier: MIT */
/*
 * NVTX. Its functions are in the program's own code, from NVIDIA's headers: at its first call each
 * copy of them loads the injection, a library that NVTX_INJECTION64_PATH names, and has it put its
 * functions into a table. An injection that the variable named before us (nvtx_variable.c) is
 * loaded by us, called first, and gets all calls passed on.
 */
#include "preload/nvtx.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>

#include "base/text.h"
#include "containers/intern.h"
#include "containers/table.h"
#include "counts/range.h"
#include "preload/init.h"
#include "preload/real_dlsym.h"
#include "preload/wrap.h"
#include "service/own_library.h"
#include "stacks/backward.h"
#include "stacks/stacks.h"
#include "state/context.h"
#include "state/note.h"
#include "state/stream.h"
#include "system/spin.h"

#define ENTRY "InitializeInjectionNvtx2"
#define HANDLE_BITS 12
#define OPEN_OF_NEXT 4096
#define NAMINGS 65536 /* names of threads, streams and so on */

CT_EXPORT int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_export_table);

/* ---- handles ---- */

/*
 * A string's handle is its copy, a domain's a place in this array; with another injection handles
 * are that one's, and these tables say what they mean.
 */
static const char domain_handles[CT_RANGE_DOMAINS];
static struct ct_table domains_of_next, strings_of_next;
static bool has_next;

static uint32_t domain_of(nvtxDomainHandle_t handle)
{
    const char *h = (const char *)handle;
    uint64_t domain;
    if (!h)
        return 0;
    if ((uintptr_t)h - (uintptr_t)domain_handles < CT_RANGE_DOMAINS)
        return (uint32_t)(h - domain_handles);
    if (has_next && ct_table_find(&domains_of_next, (uintptr_t)h, &domain))
        return (uint32_t)domain;
    return CT_RANGE_DOMAINS - 1;
}

static const char *string_of(nvtxStringHandle_t handle)
{
    uint64_t text;
    if (!has_next)
        return (const char *)handle;
    if (handle && ct_table_find(&strings_of_next, (uintptr_t)handle, &text))
        return (const char *)(uintptr_t)text;
    return NULL;
}

/* ---- messages ---- */

/* PyTorch numbers its operations (emit_nvtx): the name ends before the numbers. */
static uint32_t name_bytes(const char *s)
{
    uint32_t n = 0;
    while (n < CT_RANGE_NAME_BYTES && s[n] &&
           !(s[n] == ',' &&
             (ct_starts_with(s + n, ", seq = ") || ct_starts_with(s + n, ", op_id = "))))
        n++;
    return n;
}

static void add_utf8(struct ct_text *t, uint32_t c)
{
    static const uint8_t lead[] = {0, 0xc0, 0xe0, 0xf0};
    if (c < 0x80) {
        ct_text_add_char(t, (char)c);
        return;
    }
    unsigned more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    ct_text_add_char(t, (char)(lead[more] | c >> 6 * more));
    while (more--)
        ct_text_add_char(t, (char)(0x80 | (c >> 6 * more & 0x3f)));
}

static const char *utf8(char *to, const wchar_t *from)
{
    struct ct_text t = ct_text_in(to, CT_RANGE_NAME_BYTES);
    for (; from && *from && t.len < CT_RANGE_NAME_BYTES - 5; from++)
        add_utf8(&t, (uint32_t)*from);
    return to;
}

static struct ct_range_label label_of(uint32_t domain, const char *text)
{
    if (!text || !*text)
        text = "<unnamed>";
    return (struct ct_range_label){.text = text, .bytes = name_bytes(text), .domain = domain};
}

static struct ct_range_label label_of_event(uint32_t domain, const nvtxEventAttributes_t *a,
                                            char *room)
{
    const char *text = NULL;
    if (!a || a->size < offsetof(nvtxEventAttributes_t, message) + sizeof(a->message))
        return label_of(domain, NULL);
    if (a->messageType == NVTX_MESSAGE_TYPE_ASCII)
        text = a->message.ascii;
    else if (a->messageType == NVTX_MESSAGE_TYPE_UNICODE)
        text = utf8(room, a->message.unicode);
    else if (a->messageType == NVTX_MESSAGE_TYPE_REGISTERED)
        text = string_of(a->message.registered);
    struct ct_range_label label = label_of(domain, text);
    label.color = a->colorType == NVTX_COLOR_ARGB ? a->color : 0;
    label.category = a->category;
    return label;
}

/* ---- functions that NVTX calls ---- */

/* clang-format off */
#define CALLBACKS(X)                                                                               \
    X(CORE, MarkEx) X(CORE, MarkA) X(CORE, MarkW)                                                  \
    X(CORE, RangeStartEx) X(CORE, RangeStartA) X(CORE, RangeStartW) X(CORE, RangeEnd)              \
    X(CORE, RangePushEx) X(CORE, RangePushA) X(CORE, RangePushW) X(CORE, RangePop)                 \
    X(CORE, NameOsThreadA) X(CORE, NameOsThreadW) X(CORE, NameCategoryA) X(CORE, NameCategoryW)    \
    X(CORE2, DomainMarkEx) X(CORE2, DomainRangeStartEx) X(CORE2, DomainRangeEnd)                   \
    X(CORE2, DomainRangePushEx) X(CORE2, DomainRangePop)                                           \
    X(CORE2, DomainRegisterStringA) X(CORE2, DomainRegisterStringW)                                \
    X(CORE2, DomainCreateA) X(CORE2, DomainCreateW)                                                \
    X(CORE2, DomainNameCategoryA) X(CORE2, DomainNameCategoryW)                                    \
    X(CUDA, NameCuDeviceA) X(CUDA, NameCuDeviceW) X(CUDA, NameCuContextA)                          \
    X(CUDA, NameCuContextW) X(CUDA, NameCuStreamA) X(CUDA, NameCuStreamW)                          \
    X(CUDART, NameCudaDeviceA) X(CUDART, NameCudaDeviceW)                                          \
    X(CUDART, NameCudaStreamA) X(CUDART, NameCudaStreamW)
/* clang-format on */

/* NVTX's headers have CUDA's types behind names of their own. */
#define TYPE_CORE(name) nvtx##name##_impl_fntype
#define TYPE_CORE2(name) nvtx##name##_impl_fntype
#define TYPE_CUDA(name) nvtx##name##_fakeimpl_fntype
#define TYPE_CUDART(name) nvtx##name##_fakeimpl_fntype

/* The other injection's functions; NULL: there is none, or it does not ask for this call. */
static struct {
#define X(module, name) TYPE_##module(name) name;
    CALLBACKS(X)
#undef X
} next;

#define PASS(name, ...)                                                                            \
    do {                                                                                           \
        if (ct_unlikely(next.name != NULL))                                                        \
            next.name(__VA_ARGS__);                                                                \
    } while (0)
#define PASS_OR(otherwise, name, ...)                                                              \
    (ct_unlikely(next.name != NULL) ? next.name(__VA_ARGS__) : (otherwise))

/* NULL: nothing is recorded, or the mark comes from inside of a driver call. */
static struct ct_thread *enter(void)
{
    struct ct_thread *t = ct_wrap_enter();
    return t && !t->driver_depth ? t : NULL;
}

static void mark(struct ct_range_label l)
{
    struct ct_thread *t = enter();
    if (t)
        ct_range_mark(t, &l);
}

static int push(struct ct_range_label l)
{
    struct ct_thread *t = enter();
    struct ct_origin origin;
    if (!t)
        return NVTX_NO_PUSH_POP_TRACKING;
    if (ct_unlikely(l.text[l.bytes] == ',') && ct_stacks_are_on &&
        ct_backward_begins(l.text, l.bytes, &origin))
        l.origin = &origin;
    return ct_range_push(t, &l);
}

static int pop(uint32_t domain)
{
    struct ct_thread *t = enter();
    return t ? ct_range_pop(t, domain) : NVTX_NO_PUSH_POP_TRACKING;
}

/*
 * The other injection's numbers of open ranges, and ours of the same. Ours start where no other's
 * are likely to: the program has ours for ranges that the other injection does not see.
 */
static struct {
    struct ct_spin lock;
    uint32_t count;
    struct {
        nvtxRangeId_t theirs, ours;
    } at[OPEN_OF_NEXT];
} ids_of_next;

static bool remember(nvtxRangeId_t theirs, nvtxRangeId_t ours)
{
    ct_spin_lock(&ids_of_next.lock);
    bool fits = ids_of_next.count < OPEN_OF_NEXT;
    if (fits) {
        ids_of_next.at[ids_of_next.count].theirs = theirs;
        ids_of_next.at[ids_of_next.count++].ours = ours;
    }
    ct_spin_unlock(&ids_of_next.lock);
    return fits;
}

/* Takes out our number for theirs; 0: the number is one of ours, or none. */
static nvtxRangeId_t recall(nvtxRangeId_t theirs)
{
    nvtxRangeId_t ours = 0;
    ct_spin_lock(&ids_of_next.lock);
    for (uint32_t i = ids_of_next.count; i-- > 0 && !ours;)
        if (ids_of_next.at[i].theirs == theirs) {
            ours = ids_of_next.at[i].ours;
            ids_of_next.at[i] = ids_of_next.at[--ids_of_next.count];
        }
    ct_spin_unlock(&ids_of_next.lock);
    return ours;
}

static nvtxRangeId_t start(struct ct_range_label l)
{
    struct ct_thread *t = enter();
    return t ? ct_range_start(t, &l) : 0;
}

static void end_ours(nvtxRangeId_t id)
{
    struct ct_thread *t = enter();
    if (t)
        ct_range_end(t, id);
}

/* A range that cannot be found again would stay open. */
static nvtxRangeId_t started(nvtxRangeId_t ours, nvtxRangeId_t theirs)
{
    if (!theirs)
        return ours;
    if (ours && !remember(theirs, ours))
        end_ours(ours);
    return theirs;
}

static void end(nvtxRangeId_t id)
{
    nvtxRangeId_t ours = has_next ? recall(id) : 0;
    end_ours(ours ? ours : id);
}

static void NVTX_API on_MarkEx(const nvtxEventAttributes_t *a)
{
    char room[CT_RANGE_NAME_BYTES];
    PASS(MarkEx, a);
    mark(label_of_event(0, a, room));
}

static void NVTX_API on_MarkA(const char *message)
{
    PASS(MarkA, message);
    mark(label_of(0, message));
}

static void NVTX_API on_MarkW(const wchar_t *message)
{
    char room[CT_RANGE_NAME_BYTES];
    PASS(MarkW, message);
    mark(label_of(0, utf8(room, message)));
}

static nvtxRangeId_t NVTX_API on_RangeStartEx(const nvtxEventAttributes_t *a)
{
    char room[CT_RANGE_NAME_BYTES];
    nvtxRangeId_t theirs = PASS_OR(0, RangeStartEx, a);
    return started(start(label_of_event(0, a, room)), theirs);
}

static nvtxRangeId_t NVTX_API on_RangeStartA(const char *message)
{
    nvtxRangeId_t theirs = PASS_OR(0, RangeStartA, message);
    return started(start(label_of(0, message)), theirs);
}

static nvtxRangeId_t NVTX_API on_RangeStartW(const wchar_t *message)
{
    char room[CT_RANGE_NAME_BYTES];
    nvtxRangeId_t theirs = PASS_OR(0, RangeStartW, message);
    return started(start(label_of(0, utf8(room, message))), theirs);
}

static void NVTX_API on_RangeEnd(nvtxRangeId_t id)
{
    end(id);
    PASS(RangeEnd, id);
}

static int NVTX_API on_RangePushEx(const nvtxEventAttributes_t *a)
{
    char room[CT_RANGE_NAME_BYTES];
    int level = push(label_of_event(0, a, room));
    return PASS_OR(level, RangePushEx, a);
}

static int NVTX_API on_RangePushA(const char *message)
{
    int level = push(label_of(0, message));
    return PASS_OR(level, RangePushA, message);
}

static int NVTX_API on_RangePushW(const wchar_t *message)
{
    char room[CT_RANGE_NAME_BYTES];
    int level = push(label_of(0, utf8(room, message)));
    return PASS_OR(level, RangePushW, message);
}

static int NVTX_API on_RangePop(void)
{
    int level = pop(0);
    return PASS_OR(level, RangePop);
}

/* ---- names of things ---- */

/* A name's copy; NULL: the name is empty, or there is no room for it. */
static const char *keep(const char *name)
{
    static _Atomic uint32_t namings;
    if (!name || !*name)
        return NULL;
    bool fits = atomic_fetch_add_explicit(&namings, 1, memory_order_relaxed) < NAMINGS;
    const char *copy = fits ? ct_intern(name, ct_strnlen(name, CT_RANGE_NAME_BYTES)) : NULL;
    if (!copy)
        ct_note(CT_NOTE_WARNING, "Names by NVTX that are not kept: there were too many");
    return copy;
}

static void name_thread(uint32_t tid, const char *name)
{
    const char *copy = ct_wrap_enter() ? keep(name) : NULL;
    if (copy)
        ct_range_name_thread(tid, copy);
}

static void name_device(CUdevice device, const char *name)
{
    const char *copy = ct_wrap_enter() ? keep(name) : NULL;
    if (copy)
        ct_device_give_name(device, copy);
}

static void name_context(void *context, const char *name)
{
    int saved_errno = errno;
    const char *copy = context && ct_wrap_enter() ? keep(name) : NULL;
    struct ct_context *c = copy ? ct_context_get((CUcontext)context) : NULL;
    if (c)
        atomic_store_explicit(&c->name, copy, memory_order_release);
    errno = saved_errno;
}

static void name_stream(void *stream, const char *name)
{
    int saved_errno = errno;
    struct ct_thread *t = ct_wrap_enter();
    const char *copy = t ? keep(name) : NULL;
    if (copy && !ct_stream_give_name(t, stream ? (CUstream)stream : CU_STREAM_LEGACY, copy))
        ct_note(CT_NOTE_WARNING, "Names of streams that are not kept: they could not be asked");
    errno = saved_errno;
}

static void name_category_of(uint32_t domain, uint32_t category, const char *name)
{
    const char *copy = ct_wrap_enter() ? keep(name) : NULL;
    if (copy)
        ct_range_name_category(domain, category, copy);
}

static void name_category(uint32_t category, const char *name)
{
    name_category_of(0, category, name);
}

/* The two forms of a function that names something. */
#define NAMES(function, handle, give)                                                              \
    static void NVTX_API on_##function##A(handle h, const char *name)                              \
    {                                                                                              \
        PASS(function##A, h, name);                                                                \
        give(h, name);                                                                             \
    }                                                                                              \
    static void NVTX_API on_##function##W(handle h, const wchar_t *name)                           \
    {                                                                                              \
        char room[CT_RANGE_NAME_BYTES];                                                            \
        PASS(function##W, h, name);                                                                \
        give(h, utf8(room, name));                                                                 \
    }

NAMES(NameOsThread, uint32_t, name_thread)
NAMES(NameCategory, uint32_t, name_category)
NAMES(NameCuDevice, nvtx_CUdevice, name_device)
NAMES(NameCuContext, nvtx_CUcontext, name_context)
NAMES(NameCuStream, nvtx_CUstream, name_stream)
NAMES(NameCudaDevice, int, name_device)
NAMES(NameCudaStream, nvtx_cudaStream_t, name_stream)

/* ---- domains ---- */

static void NVTX_API on_DomainMarkEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *a)
{
    char room[CT_RANGE_NAME_BYTES];
    PASS(DomainMarkEx, domain, a);
    mark(label_of_event(domain_of(domain), a, room));
}

static nvtxRangeId_t NVTX_API on_DomainRangeStartEx(nvtxDomainHandle_t domain,
                                                    const nvtxEventAttributes_t *a)
{
    char room[CT_RANGE_NAME_BYTES];
    nvtxRangeId_t theirs = PASS_OR(0, DomainRangeStartEx, domain, a);
    return started(start(label_of_event(domain_of(domain), a, room)), theirs);
}

static void NVTX_API on_DomainRangeEnd(nvtxDomainHandle_t domain, nvtxRangeId_t id)
{
    end(id);
    PASS(DomainRangeEnd, domain, id);
}

static int NVTX_API on_DomainRangePushEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *a)
{
    char room[CT_RANGE_NAME_BYTES];
    int level = push(label_of_event(domain_of(domain), a, room));
    return PASS_OR(level, DomainRangePushEx, domain, a);
}

static int NVTX_API on_DomainRangePop(nvtxDomainHandle_t domain)
{
    int level = pop(domain_of(domain));
    return PASS_OR(level, DomainRangePop, domain);
}

static nvtxStringHandle_t registered(const char *string, nvtxStringHandle_t theirs)
{
    const char *copy = string ? ct_intern(string, ct_strnlen(string, CT_RANGE_NAME_BYTES)) : NULL;
    nvtxStringHandle_t handle = theirs ? theirs : (nvtxStringHandle_t)(uintptr_t)copy;
    if (has_next && copy)
        ct_table_put(&strings_of_next, (uintptr_t)handle, (uintptr_t)copy);
    return handle;
}

static nvtxStringHandle_t NVTX_API on_DomainRegisterStringA(nvtxDomainHandle_t domain,
                                                            const char *string)
{
    return registered(string, PASS_OR(NULL, DomainRegisterStringA, domain, string));
}

static nvtxStringHandle_t NVTX_API on_DomainRegisterStringW(nvtxDomainHandle_t domain,
                                                            const wchar_t *string)
{
    char room[CT_RANGE_NAME_BYTES];
    return registered(utf8(room, string), PASS_OR(NULL, DomainRegisterStringW, domain, string));
}

static nvtxDomainHandle_t created(const char *name, nvtxDomainHandle_t theirs)
{
    uint32_t domain =
        name && *name ? ct_range_domain(name, ct_strnlen(name, CT_RANGE_NAME_BYTES)) : 0;
    if (!theirs)
        return (nvtxDomainHandle_t)(uintptr_t)&domain_handles[domain];
    ct_table_put(&domains_of_next, (uintptr_t)theirs, domain);
    return theirs;
}

static nvtxDomainHandle_t NVTX_API on_DomainCreateA(const char *name)
{
    return created(name, PASS_OR(NULL, DomainCreateA, name));
}

static nvtxDomainHandle_t NVTX_API on_DomainCreateW(const wchar_t *name)
{
    char room[CT_RANGE_NAME_BYTES];
    return created(utf8(room, name), PASS_OR(NULL, DomainCreateW, name));
}

static void NVTX_API on_DomainNameCategoryA(nvtxDomainHandle_t domain, uint32_t category,
                                            const char *name)
{
    PASS(DomainNameCategoryA, domain, category, name);
    name_category_of(domain_of(domain), category, name);
}

static void NVTX_API on_DomainNameCategoryW(nvtxDomainHandle_t domain, uint32_t category,
                                            const wchar_t *name)
{
    char room[CT_RANGE_NAME_BYTES];
    PASS(DomainNameCategoryW, domain, category, name);
    name_category_of(domain_of(domain), category, utf8(room, name));
}

/* ---- the injection ---- */

/* The injection that the variable named before us, one for all copies of NVTX in the process. */
static NvtxInitializeInjectionNvtxFunc_t find_next(void)
{
    const char *path = getenv(CT_NVTX_NEXT);
    void *library = path && *path ? dlopen(path, RTLD_LAZY) : NULL;
    if (!library)
        return NULL;
    ct_real_dlsym_find();
    NvtxInitializeInjectionNvtxFunc_t f =
        (NvtxInitializeInjectionNvtxFunc_t)(uintptr_t)ct_real_dlsym(library, ENTRY);
    return f == InitializeInjectionNvtx2 ? NULL : f;
}

struct module {
    NvtxFunctionTable table;
    unsigned size;
};

static bool find_module(const NvtxExportTableCallbacks *callbacks, NvtxCallbackModule id,
                        struct module *m)
{
    if (callbacks->GetModuleFunctionTable(id, &m->table, &m->size) && m->table)
        return true;
    m->size = 0;
    return false;
}

/* A place in the table that the other injection has filled holds another function than before. */
static void put(const struct module *m, unsigned id, NvtxFunctionPointer before,
                NvtxFunctionPointer ours, NvtxFunctionPointer *theirs)
{
    if (id >= m->size || !m->table[id])
        return;
    if (has_next && *m->table[id] != before && *m->table[id] != ours)
        *theirs = *m->table[id];
    *m->table[id] = ours;
}

static NvtxFunctionPointer value(const struct module *m, unsigned id)
{
    return id < m->size && m->table[id] ? *m->table[id] : NULL;
}

static bool start_next(NvtxInitializeInjectionNvtxFunc_t f, NvtxGetExportTableFunc_t get)
{
    bool tables = has_next || (ct_table_init(&domains_of_next, HANDLE_BITS) &&
                               ct_table_init(&strings_of_next, HANDLE_BITS + 4));
    return tables && f(get);
}

static int attach(NvtxGetExportTableFunc_t get, NvtxInitializeInjectionNvtxFunc_t chained)
{
    static struct ct_spin lock;
    const NvtxExportTableCallbacks *callbacks = get(NVTX_ETID_CALLBACKS);
    struct module CORE, CORE2, CUDA, CUDART;
    if (!callbacks || callbacks->struct_size < sizeof(*callbacks) ||
        !find_module(callbacks, NVTX_CB_MODULE_CORE, &CORE) ||
        !find_module(callbacks, NVTX_CB_MODULE_CORE2, &CORE2))
        return 0;
    find_module(callbacks, NVTX_CB_MODULE_CUDA, &CUDA); /* older copies may lack these two */
    find_module(callbacks, NVTX_CB_MODULE_CUDART, &CUDART);
    struct {
#define X(module, name) NvtxFunctionPointer name;
        CALLBACKS(X)
#undef X
    } before = {
#define X(module, name) .name = value(&module, NVTX_CBID_##module##_##name),
        CALLBACKS(X)
#undef X
    };
    bool has_started = chained && start_next(chained, get); /* the other may use NVTX itself */
    ct_spin_lock(&lock);
    if (has_started)
        has_next = true;
#define X(module, name)                                                                            \
    put(&module, NVTX_CBID_##module##_##name, before.name, (NvtxFunctionPointer)on_##name,         \
        (NvtxFunctionPointer *)&next.name);
    CALLBACKS(X)
#undef X
    ct_spin_unlock(&lock);
    return 1;
}

/* Called for each copy of NVTX, perhaps by several threads at once. */
int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_export_table)
{
    NvtxInitializeInjectionNvtxFunc_t chained = find_next();
    bool profiled = ct_own_library_is_preloaded();
    if (profiled && !ct_is_on())
        ct_arm();
    if (!profiled || atomic_load(&ct_state) == CT_OFF)
        return chained ? chained(get_export_table) : 0;
    return attach(get_export_table, chained);
}
