// SPDX-License-Identifier: MIT
//
// program TRUTH PLUGINS ROUNDS: launches kernels from everywhere in C++, those of one stack under one name, and
// writes for each stack what backtrace(3) says there: name, launches, then object:offset of each frame, innermost
// first. "~" before one: the offset is where its function begins. A name without frames has no stack.
#include "program.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <execinfo.h>
#include <functional>
#include <map>
#include <mutex>
#include <pthread.h>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <ucontext.h>
#include <vector>

#include <cuda.h>

/* Modules, their functions and the context are left to the end of the process. */
extern "C" const char *__asan_default_options()
{
    return "detect_leaks=0";
}

static void must(CUresult rc)
{
    if (rc != CUDA_SUCCESS) {
        fprintf(stderr, "CUDA error %d\n", (int)rc);
        abort();
    }
}

static CUcontext context;
static CUmodule module;
static CUstream stream;

struct stack {
    std::string name;
    CUfunction function;
    int launches;
};

static std::mutex lock;
static std::map<std::string, stack> stacks;

static CUfunction function_of(const std::string &name)
{
    CUfunction f;
    must(cuModuleGetFunction(&f, module, name.c_str()));
    return f;
}

/* In the calling thread's present state: which kernel is the one of these frames. */
__attribute__((noinline)) static CUfunction kernel_of(const std::string &frames, const char *kind)
{
    std::lock_guard<std::mutex> held(lock);
    auto found = stacks.find(kind + frames);
    if (found == stacks.end()) {
        std::string name = kind + std::to_string(stacks.size());
        found = stacks.insert({kind + frames, {name, function_of(name), 0}}).first;
    }
    found->second.launches++;
    return found->second.function;
}

/* Sanitizers put a function of their own between backtrace() and its caller. */
static int frames_before_own(void **at)
{
    Dl_info own, info;
    dladdr((void *)&frames_before_own, &own);
    return dladdr(at[0], &info) && info.dli_fbase == own.dli_fbase ? 0 : 1;
}

static std::string spell(void *address, bool is_function)
{
    Dl_info info;
    char text[64];
    if (!dladdr(address, &info))
        return is_function ? " ~:0" : " :0";
    snprintf(text, sizeof(text), ":%zx", (size_t)((char *)address - (char *)info.dli_fbase));
    char *path = realpath(info.dli_fname, nullptr);
    std::string spelled = std::string(is_function ? " ~" : " ") + (path ? path : info.dli_fname) + text;
    free(path);
    return spelled;
}

__attribute__((noinline)) static std::string frames_from(int first)
{
    void *at[4096];
    int n = backtrace(at, 4096);
    std::string frames;
    for (int i = first + frames_before_own(at); i < n; i++)
        frames += spell(at[i], false);
    return frames;
}

static thread_local const char *kind = "k";
static thread_local std::string *around; /* frames behind code that backtrace cannot pass */

__attribute__((noinline)) void launch()
{
    std::string frames = spell((void *)&launch, true);
    if (*kind == 'n')
        frames = "";
    else if (around)
        frames += " JIT" + *around;
    else
        frames += frames_from(2);
    must(cuLaunchKernel(kernel_of(frames, kind), 1, 1, 1, 32, 1, 1, 0, stream, nullptr, nullptr));
    keep();
}

/* ---- from where ---- */

volatile int kept;
void keep() { kept = kept + 1; }

__attribute__((noinline)) static void recurse(int depth)
{
    if (depth)
        recurse(depth - 1);
    else
        launch();
    keep();
}

__attribute__((noinline)) static int odd(int depth);
__attribute__((noinline)) static int even(int depth) { int r = depth ? odd(depth - 1) : (launch(), 0); keep(); return r + 1; }
__attribute__((noinline)) static int odd(int depth) { int r = depth ? even(depth - 1) : (launch(), 0); keep(); return r + 2; }

__attribute__((noinline)) static void tail() { launch(); }
__attribute__((noinline)) static void tails(int n) { if (n) return tails(n - 1); return tail(); }

static inline __attribute__((always_inline)) void inlined()
{
    launch(); /* in inlined() */
    keep();
}
__attribute__((noinline)) static void around_inlined()
{
    inlined(); /* in around_inlined() */
    keep();
}

struct shape {
    virtual ~shape() {}
    virtual void draw() = 0;
};
struct circle : shape {
    void draw() override { launch(); keep(); }
};
template <typename T> struct nested {
    __attribute__((noinline)) static void go(T t) { t(); keep(); }
};

struct guard {
    ~guard() { launch(); keep(); }
};

__attribute__((noinline)) static void thrower(int n)
{
    guard g;
    if (n > 0)
        thrower(n - 1);
    else
        throw n;
    keep();
}

__attribute__((noinline)) static void noexceptional(int n) noexcept
{
    try {
        thrower(n);
    } catch (int) {
        launch();
    }
    keep();
}

__attribute__((noinline)) static void with_room(size_t bytes)
{
    char *p = (char *)__builtin_alloca(bytes);
    memset(p, 1, bytes);
    launch();
    kept = p[bytes / 2];
}

__attribute__((noinline)) static void aligned(long a, long b, long c, long d, long e, long f, long g, long h)
{
    alignas(128) char p[256];
    memset(p, (int)(a + b + c + d + e + f + g + h), sizeof(p));
    char *volatile q = p;
    launch();
    kept = q[5];
}

__attribute__((noinline)) static void large()
{
    char p[300000];
    char *volatile q = p;
    q[1] = q[299999] = 3;
    launch();
    kept = q[1];
}

static int comparing(const void *a, const void *b)
{
    launch();
    return *(const int *)a - *(const int *)b;
}

static void by_libc()
{
    int numbers[] = {5, 3, 9, 1};
    qsort(numbers, 4, sizeof(int), comparing);
    std::sort(numbers, numbers + 4, [](int a, int b) { launch(); return a > b; });
    std::function<void()> f = [] { nested<std::function<void()>>::go([] { launch(); keep(); }); };
    f();
    keep();
}

static void handle(int)
{
    launch();
    keep();
}

static void by_signal()
{
    struct sigaction act = {};
    act.sa_handler = handle;
    sigaction(SIGUSR1, &act, nullptr);
    kind = "s";
    raise(SIGUSR1);
    kind = "k";
    keep();
}

static void *in_thread(void *)
{
    must(cuCtxSetCurrent(context));
    recurse(3);
    large();
    return nullptr;
}

static void by_threads()
{
    pthread_t thread;
    pthread_create(&thread, nullptr, in_thread, nullptr);
    pthread_join(thread, nullptr);
    std::thread([] { in_thread(nullptr); }).join();
}

/* Two libraries, of one size and with other frames, come to one address. */
static void by_plugins(const std::string &plugins, int round)
{
    std::string path = plugins + (round % 2 ? "/b.so" : "/a.so");
    void *library = dlopen(path.c_str(), RTLD_NOW);
    if (!library)
        abort();
    auto call = (void (*)(void (*)()))dlsym(library, "plugin_call");
    call(launch);
    call(tail);
    dlclose(library);
}

/* ---- code without tables ---- */

static unsigned char *jit;

__attribute__((noinline)) static void through_jit()
{
    std::string outer = spell((void *)&through_jit, true) + frames_from(2);
    around = &outer;
    ((void (*)(void (*)()))jit)(launch);
    around = nullptr;
    keep();
}

static void make_jit()
{
    /* It begins with its page, and nothing is before that. */
    char *p = (char *)mmap(nullptr, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) + 4096;
    if (mprotect(p, 4096, PROT_READ | PROT_WRITE | PROT_EXEC))
        abort();
    jit = (unsigned char *)p;
#if defined(__x86_64__)
    static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
#else
    static const unsigned code[] = {0xa9bf7bfd, 0x910003fd, 0xd63f0000, 0xa8c17bfd, 0xd65f03c0};
#endif
    memcpy(jit, code, sizeof(code));
    __builtin___clear_cache(p, p + sizeof(code));
}

/* ---- in no stack ---- */

static ucontext_t back, fiber;
static void in_fiber() { launch(); }

static void elsewhere()
{
    static char fiber_stack[65536], signal_stack[65536];
    kind = "n";
    getcontext(&fiber);
    fiber.uc_stack = {};
    fiber.uc_stack.ss_sp = fiber_stack;
    fiber.uc_stack.ss_size = sizeof(fiber_stack);
    fiber.uc_link = &back;
    makecontext(&fiber, in_fiber, 0);
    swapcontext(&back, &fiber);
    stack_t alternative = {};
    alternative.ss_sp = signal_stack;
    alternative.ss_size = sizeof(signal_stack);
    sigaltstack(&alternative, nullptr);
    struct sigaction act = {};
    act.sa_handler = handle;
    act.sa_flags = SA_ONSTACK;
    sigaction(SIGUSR2, &act, nullptr);
    raise(SIGUSR2);
    kind = "k";
}

static void garbled()
{
    static char data[4096];
    void *const values[] = {(void *)0x1234, (void *)&data[64], (void *)&garbled, (void *)~(uintptr_t)0,
                            (void *)((uintptr_t)1 << 63), (void *)-4096, &lock};
    kind = "n";
    for (void *value : values) {
        garble_return(launch, value);
        garble_pointer(launch, value);
    }
    kind = "k";
}

/* ---- graphs ---- */

static void by_graph()
{
    CUgraph graph;
    CUgraphExec exec;
    must(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    kind = "g";
    recurse(5);
    kind = "k";
    must(cuStreamEndCapture(stream, &graph));
    must(cuGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 3; i++)
        must(cuGraphLaunch(exec, stream));
    must(cuStreamSynchronize(stream));
    must(cuGraphExecDestroy(exec));
    must(cuGraphDestroy(graph));
}

static void everything(const std::string &plugins, int round)
{
    for (int depth = 0; depth < 30; depth++)
        recurse(depth);
    even(7), odd(4);
    tails(5);
    around_inlined();
    circle c;
    shape *volatile s = &c;
    s->draw();
    noexceptional(4);
    with_room(100 + 16 * (size_t)(round % 50));
    aligned(1, 2, 3, 4, 5, 6, 7, 8);
    large();
    by_libc();
    by_signal();
    by_plugins(plugins, round);
    through_jit();
    if (round % 10 == 0)
        by_threads(), elsewhere(), garbled();
    must(cuStreamSynchronize(stream));
}

int main(int, char **argv)
{
    CUdevice device;
    must(cuInit(0));
    must(cuDeviceGet(&device, 0));
    must(cuDevicePrimaryCtxRetain(&context, device));
    must(cuCtxSetCurrent(context));
    must(cuModuleLoadData(&module, "image"));
    must(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    make_jit();
    recurse(1000);
    for (int round = 0; round < atoi(argv[3]); round++)
        everything(argv[2], round);
    by_graph();
    must(cuCtxSynchronize());
    FILE *truth = fopen(argv[1], "w");
    for (const auto &s : stacks)
        fprintf(truth, "%s %d%s\n", s.second.name.c_str(), s.second.launches, s.first.c_str() + 1);
    return fclose(truth);
}
