/* SPDX-License-Identifier: MIT */
/*
 * Another injection: prints what NVTX calls, with handles and numbers of its own. A handle that is
 * not its own ends the program.
 */
#include <stdio.h>
#include <stdlib.h>

#include <nvtx3/nvToolsExt.h>

static char domain_place[8], string_place[8];
static nvtxRangeId_t last_id = 1000;
static int level;

static const char *check(const void *handle, const char *place)
{
    if ((const char *)handle < place || (const char *)handle >= place + 8) {
        printf("witness: a handle is not mine\n");
        exit(9);
    }
    return handle;
}

static const char *message(const nvtxEventAttributes_t *a)
{
    if (a->messageType != NVTX_MESSAGE_TYPE_REGISTERED)
        return a->message.ascii;
    check(a->message.registered, string_place);
    return "registered";
}

static int push(const char *name)
{
    printf("witness: push %s\n", name);
    return 100 + level++;
}

static int pop(void)
{
    printf("witness: pop\n");
    return 100 + --level;
}

static void mark(const char *name)
{
    printf("witness: mark %s\n", name);
}

static nvtxRangeId_t start(const char *name)
{
    printf("witness: start %s\n", name);
    return ++last_id;
}

static void end(nvtxRangeId_t id)
{
    printf("witness: end %d\n", (int)id);
}

static nvtxDomainHandle_t create(const char *name)
{
    static int n;
    printf("witness: domain %s\n", name);
    return (nvtxDomainHandle_t)&domain_place[n++];
}

static void destroy(nvtxDomainHandle_t d)
{
    check(d, domain_place);
    printf("witness: domain destroyed\n");
}

static nvtxStringHandle_t string(nvtxDomainHandle_t d, const char *s)
{
    static int n;
    check(d, domain_place);
    printf("witness: string %s\n", s);
    return (nvtxStringHandle_t)&string_place[n++];
}

static int domain_push(nvtxDomainHandle_t d, const nvtxEventAttributes_t *a)
{
    check(d, domain_place);
    return push(message(a));
}

static int domain_pop(nvtxDomainHandle_t d)
{
    check(d, domain_place);
    return pop();
}

int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get)
{
    const NvtxExportTableCallbacks *c = get(NVTX_ETID_CALLBACKS);
    NvtxFunctionTable core, core2;
    unsigned size;
    static int inside;
    if (inside || !c)
        return 0;
    if (getenv("WITNESS_SLEEPS"))
        return 1;
    if (getenv("WITNESS_MARKS")) { /* its own NVTX loads what the program's has loaded */
        inside = 1;
        nvtxMarkA("witness begins");
        inside = 0;
    }
    if (!c->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &core, &size) ||
        !c->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &core2, &size))
        return 0;
    *core[NVTX_CBID_CORE_RangePushA] = (NvtxFunctionPointer)push;
    *core[NVTX_CBID_CORE_RangePop] = (NvtxFunctionPointer)pop;
    *core[NVTX_CBID_CORE_MarkA] = (NvtxFunctionPointer)mark;
    *core[NVTX_CBID_CORE_RangeStartA] = (NvtxFunctionPointer)start;
    *core[NVTX_CBID_CORE_RangeEnd] = (NvtxFunctionPointer)end;
    *core2[NVTX_CBID_CORE2_DomainCreateA] = (NvtxFunctionPointer)create;
    *core2[NVTX_CBID_CORE2_DomainDestroy] = (NvtxFunctionPointer)destroy;
    *core2[NVTX_CBID_CORE2_DomainRegisterStringA] = (NvtxFunctionPointer)string;
    *core2[NVTX_CBID_CORE2_DomainRangePushEx] = (NvtxFunctionPointer)domain_push;
    *core2[NVTX_CBID_CORE2_DomainRangePop] = (NvtxFunctionPointer)domain_pop;
    return 1;
}
