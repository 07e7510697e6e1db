/* SPDX-License-Identifier: MIT */
/*
 * pages: calls the runtime from 256 pages of its code, as a program with as many kernels does.
 * Prints how many objects the loader was asked about meanwhile, in a first round and in a second.
 */
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>

#define PAGE(n)                                                                                    \
    static __attribute__((aligned(4096), noinline)) int call_##n(void)                             \
    {                                                                                              \
        int device = 0;                                                                            \
        return cudaGetDevice(&device) + device + 0x##n;                                            \
    }
#define EIGHT(what, n)                                                                             \
    what(n##0) what(n##1) what(n##2) what(n##3) what(n##4) what(n##5) what(n##6) what(n##7)
#define PAGES(what, n)                                                                             \
    EIGHT(what, n##0)                                                                              \
    EIGHT(what, n##1) EIGHT(what, n##2) EIGHT(what, n##3) EIGHT(what, n##4) EIGHT(what, n##5)      \
        EIGHT(what, n##6) EIGHT(what, n##7) EIGHT(what, n##8) EIGHT(what, n##9) EIGHT(what, n##a)  \
            EIGHT(what, n##b) EIGHT(what, n##c) EIGHT(what, n##d) EIGHT(what, n##e)                \
                EIGHT(what, n##f)

PAGES(PAGE, 0)
PAGES(PAGE, 1)

typedef int call(void);

#define NAME(n) call_##n,
static call *const calls[] = {PAGES(NAME, 0) PAGES(NAME, 1)};

static __thread unsigned asked;

struct visitor {
    int (*visit)(struct dl_phdr_info *, size_t, void *);
    void *data;
};

static int count(struct dl_phdr_info *info, size_t size, void *data)
{
    const struct visitor *v = data;
    asked++;
    return v->visit(info, size, v->data);
}

/* The C library's, for all in the process. */
int dl_iterate_phdr(int (*visit)(struct dl_phdr_info *, size_t, void *), void *data)
{
    static int (*real)(int (*)(struct dl_phdr_info *, size_t, void *), void *);
    struct visitor v = {visit, data};
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "dl_iterate_phdr");
    return real(count, &v);
}

static unsigned in_a_round(void)
{
    asked = 0;
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
        calls[i]();
    return asked;
}

int main(void)
{
    unsigned first, second;
    cudaFree(NULL);
    first = in_a_round();
    second = in_a_round();
    printf("%zu calls, asked about %u, then %u\n", sizeof(calls) / sizeof(calls[0]), first, second);
    return 0;
}
