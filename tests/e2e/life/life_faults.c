/* SPDX-License-Identifier: MIT */
/*
 * The sweep: the nth call of every driver function that cutrace uses fails, with each error it can
 * return, or is slow, or never returns. The program has its own results, errors and exit status,
 * and every operation is in the profile, timed or lost.
 *
 * CUTRACE_TEST_FAULTS=all (make check-faults): n from 1 to 50, each error; otherwise a few.
 */
#include <cuda.h>
#include <stdio.h>
#include <string.h>

#include "sweep.h"

#define LAST 50
#define CODES 24

struct call {
    const char *name;
    int codes[CODES];
};

/* Besides those that cuda.h names: what went wrong on the device may be told by any call. */
#define ANYWHERE CUDA_ERROR_ILLEGAL_ADDRESS, CUDA_ERROR_LAUNCH_FAILED, CUDA_ERROR_UNKNOWN
#define OWN_CALL(name, ...) {#name, {ANYWHERE __VA_OPT__(, ) __VA_ARGS__}},
static const struct call calls[] = {
#include "own_calls.h"
};
#define CALLS (sizeof(calls) / sizeof(calls[0]))

/*
 * Called only where the driver does not have a newer form, for Python's stacks (stacks.sh), or for
 * child graphs that are set (life_replica).
 */
static const char *const elsewhere[] = {"cuDeviceGetUuid", "cuEventElapsedTime",
                                        "cuStreamGetCaptureInfo_v2", "cuStreamGetCaptureInfo_v3",
                                        "cuGraphExecChildGraphNodeSetParams"};

static bool is_elsewhere(const char *name)
{
    for (unsigned i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++)
        if (!strcmp(name, elsewhere[i]))
            return true;
    return false;
}

/* Called only after another one has failed. */
static const char *before(const char *name)
{
    if (!strcmp(name, "cuKernelGetAttribute"))
        return ",cutrace/cuFuncGetAttribute:1-1000000:400";
    if (!strcmp(name, "cuCtxSetCurrent"))
        return ",cutrace/cuCtxPopCurrent_v2:1-1000000:201";
    return "";
}

/* ---- cutrace's own calls ---- */

static unsigned code_count(const struct call *c)
{
    unsigned n = 0;
    while (n < CODES && c->codes[n])
        n++;
    return n;
}

/* What was taken cannot be given back when that always fails: such a call may fail once. */
static bool gives_back(const char *name)
{
    return !strcmp(name, "cuDevicePrimaryCtxRelease_v2") || !strcmp(name, "cuCtxSetCurrent");
}

static void add_failure(const struct call *c, const char *range, int code)
{
    sweep_add("CUDASIM_FAIL=cutrace/%s:%s:%d%s", c->name, range, code, before(c->name));
}

static void add_nth_failure(const struct call *c, unsigned n, int code)
{
    char text[16];
    snprintf(text, sizeof(text), "%u", n);
    add_failure(c, text, code);
}

static void add_lasting_failure(const struct call *c)
{
    if (!gives_back(c->name))
        add_failure(c, "1-1000000", c->codes[code_count(c) - 1]);
}

/* Which n are worth trying: the nth call has to be there. */
static unsigned try_each_n(const struct call *c)
{
    unsigned last = 0;
    for (unsigned n = 1; n <= LAST; n++)
        add_nth_failure(c, n, c->codes[0]);
    sweep_play("3");
    for (unsigned i = 0; i < sweep_count(); i++)
        if (sweep_came(i))
            last = i + 1;
    ck_assert_msg(last || is_elsewhere(c->name), "%s was never called", c->name);
    sweep_end("failing");
    return last;
}

/* All of one function's, where the whole sweep is wanted. */
START_TEST(failing)
{
    const struct call *c = &calls[_i];
    if (!sweep_whole())
        return;
    sweep_play_bare();
    unsigned last = try_each_n(c);
    for (unsigned k = 1; k < code_count(c); k++)
        for (unsigned n = 1; n <= last; n++)
            add_nth_failure(c, n, c->codes[k]);
    add_lasting_failure(c);
    sweep_play("3");
    sweep_end("failing");
    sweep_drop_bare();
}
END_TEST

/* Calibrating ends after 50 ms: a slow build may not come to its last calls. */
static void check_all_were_called(void)
{
    if (CT_CHECKS_THREADS)
        return;
    for (unsigned i = 0, at = 0; i < CALLS; i++) {
        char fault[100];
        snprintf(fault, sizeof(fault), "CUDASIM_FAIL=cutrace/%s:", calls[i].name);
        ck_assert_msg(!strncmp(sweep_line(at), fault, strlen(fault)), "%s is not %s", fault,
                      sweep_line(at));
        ck_assert_msg(sweep_came(at) || is_elsewhere(calls[i].name), "%s was never called",
                      calls[i].name);
        while (at < sweep_count() && !strncmp(sweep_line(at), fault, strlen(fault)))
            at++;
    }
}

START_TEST(failing_now_and_then)
{
    static const unsigned nth[] = {1, 2, 7, 30};
    if (sweep_whole())
        return;
    sweep_play_bare();
    for (unsigned i = 0; i < CALLS; i++) {
        for (unsigned n = 0; n < sizeof(nth) / sizeof(nth[0]); n++)
            add_nth_failure(&calls[i], nth[n], calls[i].codes[(n + i) % code_count(&calls[i])]);
        add_lasting_failure(&calls[i]);
    }
    sweep_play("4");
    check_all_were_called();
    sweep_end("failing");
    sweep_drop_bare();
}
END_TEST

START_TEST(slow)
{
    sweep_play_bare();
    for (unsigned i = 0; i < CALLS; i++)
        for (unsigned n = 1; n <= LAST; n++)
            if (sweep_whole() || n == 1 + i % 5)
                sweep_add("CUDASIM_SLOW=cutrace/%s:50000:%u", calls[i].name, n);
    sweep_play("6");
    sweep_end("slow");
    sweep_drop_bare();
}
END_TEST

/* On cutrace's own thread, and so slow that nobody waits for it: contexts end meanwhile. */
START_TEST(late)
{
    sweep_play_bare();
    for (unsigned i = 0; i < CALLS; i++)
        for (unsigned n = 1; n <= LAST; n++)
            if (sweep_whole() || n == 1 + i % 7)
                sweep_add("CUDASIM_SLOW=drain/%s:1500000:%u", calls[i].name, n);
    sweep_play("16");
    ck_assert_uint_gt(sweep_end("late"), 5);
    sweep_drop_bare();
}
END_TEST

/* On cutrace's own thread: a call of the program's that hangs is the program's. */
START_TEST(hanging)
{
    sweep_play_bare();
    for (unsigned i = 0; i < CALLS; i++)
        for (unsigned n = 1; n <= LAST; n++)
            if (sweep_whole() || n == 1 + i % 3)
                sweep_add("CUDASIM_HANG=drain/%s:%u", calls[i].name, n);
    sweep_play("16");
    ck_assert_uint_gt(sweep_end("hanging"), 8);
    sweep_drop_bare();
}
END_TEST

/* ---- the program's calls ---- */

/* Errors of the call alone, and such that stay. */
static const char *const program_codes[] = {"2", "999", "700:sticky", "719:sticky"};

/* Of these calls cutrace makes some in the program's place: then the nth is not the nth. */
static const char *shifted(const char *name)
{
    return !strcmp(name, "cuGraphLaunch") ? " CUTRACE_GRAPH_NODES=off" : "";
}

/* Each n for what the program calls, which a first run tells. */
static void add_program_faults(const struct ct_summary *s)
{
    for (size_t i = 0; i < s->apis_count; i++) {
        const char *name = ct_summary_text(s, s->apis[i].name);
        for (unsigned n = 1; n <= LAST && n <= s->apis[i].calls; n++)
            for (unsigned k = 0; k < 4; k++)
                if (sweep_whole() || (n + i) % 16 == 4 * k)
                    sweep_add("CUDASIM_FAIL=program/%s:%u:%s%s", name, n, program_codes[k],
                              shifted(name));
    }
}

START_TEST(program_failing)
{
    struct ct_summary s;
    sweep_play_bare();
    sweep_add("CUTRACE_PRINT=off");
    sweep_play("1");
    stage_profile(&s, "with/0/summary.bin");
    sweep_end("without a fault");
    add_program_faults(&s);
    ct_summary_free(&s);
    sweep_drop_bare();
    sweep_play_bare_each("3");
    sweep_play("3");
    unsigned all = sweep_count();
    ck_assert_uint_ge(sweep_end("program's"), all - all / 8);
    sweep_drop_bare();
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("faults");
    tcase_add_test(t, failing_now_and_then);
    tcase_add_loop_test(t, failing, 0, CALLS);
    tcase_add_test(t, slow);
    tcase_add_test(t, late);
    tcase_add_test(t, hanging);
    tcase_add_test(t, program_failing);
    return stage_main("life_faults", t);
}
