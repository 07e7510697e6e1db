/* SPDX-License-Identifier: MIT */
#include "service/profile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/config.h"
#include "base/text.h"
#include "cutrace/format.h"
#include "format/write.h"
#include "service/naming.h"
#include "service/run.h"
#include "system/clock.h"
#include "system/fd.h"
#include "system/log.h"
#include "system/mem.h"
#include "system/proc.h"

#define COMMAND_BYTES 4096

static struct ct_file file = {.fd = CT_FD_NONE};
static char wanted[CT_NAMING_BYTES];
static bool by_rank;
static CT_PROCESS bool opened;
static bool taken; /* the payload is whole */
static bool last;  /* no other payload will follow */
static CT_PROCESS bool complained;
/* Where the profile can be read, and whether it stays there. Asked at exit, also beside a drain
 * thread that hangs. */
static CT_PROCESS const char *_Atomic shown;
static CT_PROCESS atomic_bool kept;
static CT_PROCESS struct ct_buffer payload;
static CT_PROCESS struct ct_process_info process;

static char command[COMMAND_BYTES];
static char program[1024];
static char memory_path[64];

static void read_command(void)
{
    size_t n =
        ct_fd_take_text(open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC), command, sizeof(command));
    struct ct_text t = ct_text_in(program, sizeof(program));
    ct_text_add(&t, command);
    for (size_t i = 0; i + 1 < n && ct_config.arguments; i++)
        if (!command[i])
            command[i] = ' ';
}

static void find_name(void)
{
    by_rank = ct_naming_needs_rank(ct_config.output);
    if (ct_naming_expand(wanted, ct_config.output))
        return;
    ct_log(1, "CUTRACE_OUTPUT='", ct_config.output,
           "' is not possible (%p %h %r %q{VAR} %%), using summary.bin");
    ct_naming_expand(wanted, "summary.bin");
    by_rank = ct_naming_needs_rank("summary.bin");
}

/* The name is found here, as the program may change its environment beside the drain thread. */
void ct_profile_start(uint32_t driver_version)
{
    ct_naming_start();
    find_name();
    read_command();
    process = (struct ct_process_info){
        .command = command,
        .program = program,
        .host = ct_naming_host(),
        .start_unix_ns = ct_clock_unix_ns(),
        .start_ns = ct_clock_monotonic_ns(),
        .pid = (uint32_t)getpid(),
        .parent_pid = (uint32_t)ct_proc_own_parent(),
        .driver_version = driver_version,
        .rank = ct_config.rank,
    };
}

static void complain(const char *path, enum ct_file_error error)
{
    if (!complained)
        ct_log(1, "cannot write ", path, ct_file_reason(error, errno));
    complained = true;
}

static void open_file(void)
{
    char path[CT_NAMING_BYTES];
    opened = true;
    enum ct_file_error error = ct_naming_open(&file, path, wanted, by_rank, CT_FILE_MAGIC);
    if (!error && ct_file_begin(&file, process.start_unix_ns)) {
        ct_run_tell(CT_RUN_SUMMARY, wanted, path);
        return;
    }
    complain(path, error ? error : CT_FILE_ERROR);
    ct_file_close(&file);
    ct_file_open_memory(&file);
}

static const char *readable_path(void)
{
    if (!file.in_memory)
        return file.path;
    struct ct_text t = ct_text_in(memory_path, sizeof(memory_path));
    ct_text_add(&t, "/proc/self/fd/");
    ct_text_add_u64(&t, (uint64_t)file.fd.number);
    return memory_path;
}

/* The last payload is written whole, whatever others have done to the file. */
static bool commit_once(void)
{
    bool (*write)(struct ct_file *, const void *, size_t) = last ? ct_file_commit : ct_file_update;
    if (!write(&file, payload.data, payload.len_bytes))
        return false;
    if (!atomic_load_explicit(&shown, memory_order_relaxed)) {
        atomic_store_explicit(&kept, !file.in_memory, memory_order_relaxed);
        atomic_store_explicit(&shown, readable_path(), memory_order_release);
    }
    return true;
}

/* A disk that fills up costs the file; the table at exit can still be had from memory. */
static void commit(void)
{
    if (file.fd.number < 0 || commit_once())
        return;
    if (file.in_memory && ct_fd_is_ours(&file.fd))
        return; /* too large for memory: the profile that was there before stays */
    complain(file.path, CT_FILE_ERROR);
    atomic_store_explicit(&shown, NULL, memory_order_relaxed);
    ct_file_close(&file);
    if (ct_file_open_memory(&file))
        commit_once();
}

void ct_profile_take(bool finished)
{
    int saved_errno = errno;
    taken = ct_snapshot(&payload, &process, finished);
    last = finished;
    if (finished && !taken)
        ct_log(1, "no memory: the profile lacks what came last", NULL, NULL);
    errno = saved_errno;
}

void ct_profile_write(void)
{
    int saved_errno = errno;
    if (!opened)
        open_file();
    if (taken)
        commit();
    errno = saved_errno;
}

int ct_profile_descriptor(void)
{
    return ct_profile_is_kept() ? -1 : file.fd.number;
}

int ct_profile_open_descriptor(void)
{
    return ct_profile_path() && ct_fd_is_ours(&file.fd) ? file.fd.number : -1;
}

bool ct_profile_is_kept(void)
{
    return atomic_load_explicit(&kept, memory_order_relaxed);
}

const struct ct_process_info *ct_profile_process(void)
{
    return &process;
}

const char *ct_profile_name(void)
{
    return file.in_memory ? wanted : file.path;
}

const char *ct_profile_path(void)
{
    return atomic_load_explicit(&shown, memory_order_acquire);
}

void ct_profile_forget(void)
{
    ct_file_close(&file);
}
