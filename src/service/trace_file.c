/* SPDX-License-Identifier: MIT */
#include "service/trace_file.h"

#include <errno.h>

#include "base/config.h"
#include "base/text.h"
#include "drain/tracing.h"
#include "service/naming.h"
#include "service/profile.h"
#include "service/run.h"
#include "system/log.h"

static struct ct_file file = {.fd = CT_FD_NONE};
static char wanted[CT_NAMING_BYTES];
static CT_PROCESS bool opened;
static CT_PROCESS bool failed;
static CT_PROCESS const struct ct_trace_out *ready; /* taken in the round, to be written after it */

/* Records that were written stay; the rest is given up in the next round. */
static void give_up(const char *what, const char *path, const char *why)
{
    ct_log(1, what, path, why);
    ct_file_close(&file);
    failed = true;
}

/* summary.bin -> summary.trace */
static bool is_beside_profile(void)
{
    return ct_streq(ct_config.trace, "1");
}

void ct_trace_file_start(void)
{
    if (!ct_config.trace)
        return;
    if (!ct_tracing_start(ct_profile_process(), ct_config.trace_bytes))
        ct_log(1, "no memory: there is no trace", NULL, NULL);
    else if (!is_beside_profile() && !ct_naming_expand(wanted, ct_config.trace))
        give_up("CUTRACE_TRACE='", ct_config.trace, "' is not possible (%p %h %r %q{VAR} %%)");
}

static bool find_name(void)
{
    if (!is_beside_profile())
        return true;
    struct ct_text t = ct_text_in(wanted, CT_NAMING_BYTES);
    ct_text_add(&t, ct_profile_name());
    if (ct_naming_extend(wanted, ".trace"))
        return true;
    give_up("no trace: its name would be too long", NULL, NULL);
    return false;
}

static void open_file(void)
{
    char path[CT_NAMING_BYTES];
    opened = true;
    if (!find_name())
        return;
    struct ct_trace_header h = ct_tracing_header();
    bool by_rank = !is_beside_profile() && ct_naming_needs_rank(ct_config.trace);
    enum ct_file_error error = ct_naming_open(&file, path, wanted, by_rank, CT_TRACE_MAGIC);
    if (!error && !ct_file_write(&file, &h, sizeof(h), 0))
        error = CT_FILE_ERROR;
    if (error)
        give_up("cannot write ", path, ct_file_reason(error, errno));
    else
        ct_run_tell(CT_RUN_TRACE, wanted, path);
}

static void write_ready(void)
{
    for (unsigned i = 0; ready && !failed && i < ready->count; i++)
        if (!ct_file_write(&file, ready->piece[i].data, ready->piece[i].bytes,
                           ready->piece[i].offset))
            give_up("the trace ends here, cannot write ", file.path,
                    ct_file_reason(CT_FILE_ERROR, errno));
    ready = NULL;
}

void ct_trace_file_write(void)
{
    int saved_errno = errno;
    if (ready && !opened)
        open_file();
    write_ready();
    errno = saved_errno;
}

/*
 * The last records must find room: for that the ready pieces are written here. The trace's file may
 * be opened only now, which comes after the profile's.
 */
void ct_trace_file_take(bool finished)
{
    if (!ct_tracing_is_on())
        return;
    if (failed) {
        ct_tracing_forget();
        return;
    }
    if (!ct_tracing_seal(finished) && finished) {
        ready = ct_tracing_ready();
        ct_profile_write();
        ct_trace_file_write();
        ct_tracing_seal(finished);
    }
    ready = ct_tracing_ready();
}

void ct_trace_file_forget(void)
{
    ct_file_close(&file);
}
