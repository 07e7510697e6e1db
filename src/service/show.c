/* SPDX-License-Identifier: MIT */
#include "service/show.h"

#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/config.h"
#include "base/text.h"
#include "containers/intern.h"
#include "counts/row.h"
#include "cutrace/host.h"
#include "service/child.h"
#include "service/profile.h"
#include "service/tool.h"
#include "state/ask.h"
#include "system/elf.h"
#include "system/log.h"
#include "system/proc.h"
#include "system/spare.h"

/*
 * A thread may have a filter of system calls that the others have not. A thread cannot ask for its
 * own filter without a system call: so the drain thread asks for that of the thread that ends the
 * process. The main thread's is known (system/proc.h), and the drain thread, which is the last one
 * where all others have ended by themselves, has put none on itself.
 */
enum ender { KNOWN, UNKNOWN, FREE, CONFINED };

static _Atomic uint32_t ender_thread;
static _Atomic uint32_t ender;

static uint32_t own_thread(void)
{
    return (uint32_t)syscall(SYS_gettid);
}

void ct_show_is_near(void)
{
    bool known = ct_spare() || ct_is_drain_thread || own_thread() == (uint32_t)getpid();
    atomic_store(&ender_thread, known ? 0 : own_thread());
    atomic_store(&ender, known ? KNOWN : UNKNOWN);
}

void ct_show_look(void)
{
    uint32_t thread = atomic_load(&ender_thread);
    if (atomic_load(&ender) != UNKNOWN || thread == own_thread() || ct_proc_is_confined())
        return;
    atomic_store(&ender, ct_proc_is_thread_confined(thread) ? CONFINED : FREE);
}

static const char *kept[CT_CHILD_VARIABLES]; /* one is for the host's number; NULL at the end */

/*
 * Variables for a terminal program; nothing of the loader's. Copied early: at its end the
 * program may be changing its environment, or have taken it away.
 */
void ct_show_start(void)
{
    extern char **environ;
    static const char *const wanted[] = {
        "PATH=", "HOME=", "TERM=", "LANG=", "LC_ALL=", "COLUMNS=", "NO_COLOR="};
    unsigned n = 0;
    for (char **e = environ; e && *e; e++)
        for (unsigned i = 0; i < ct_countof(wanted); i++)
            if (ct_starts_with(*e, wanted[i]) && n < CT_CHILD_VARIABLES - 2 &&
                (kept[n] = ct_intern(*e, ct_strlen(*e))))
                n++;
    kept[n] = NULL;
}

static bool run(const char *program, const char *path)
{
    struct ct_child child = {.program = program,
                             .argv = {"cutrace-report", "--live", path},
                             .descriptor = ct_profile_descriptor()};
    char host[32];
    struct ct_text t = ct_text_in(host, sizeof(host));
    ct_text_add(&t, CT_HOST_VARIABLE "=");
    ct_text_add_u64(&t, (uint64_t)getpid());
    child.envp[0] = host;
    for (unsigned i = 0; i < CT_CHILD_VARIABLES - 1; i++)
        child.envp[i + 1] = kept[i];
    return ct_child_run(&child);
}

/* A quiet rank's figures are in a file, and the table is another rank's: but losses are said. */
static void say_lost(const char *path)
{
    char line[64];
    struct ct_text t = ct_text_in(line, sizeof(line));
    uint64_t lost = ct_rows_lost();
    if (!lost)
        return;
    ct_text_add_u64(&t, lost);
    ct_text_add(&t, " operations have no time: cutrace-report losses ");
    ct_log(1, line, path, NULL);
}

static void say_where_all_are(const char *path)
{
    char all[4096];
    struct ct_text t = ct_text_in(all, sizeof(all));
    if (ct_rank_has_job(ct_config.rank) && ct_rank_add_all(&t, path))
        ct_log(1, "the table of all ranks: cutrace-report ranks ", all, NULL);
}

/* Valgrind ends a program that has another process in its memory (service/child.h). */
static bool is_valgrinds(const struct ct_object *o, void *unused)
{
    (void)unused;
    return o->name && ct_starts_with(ct_file_name(o->name), "vgpreload_core");
}

/* NULL: the table was printed; else why not. */
static const char *print(const char *path)
{
    const char *why;
    if (ct_spare() && !ct_config.print_asked)
        return "no table, as CUDA was started under a filter of system calls (CUTRACE_PRINT=on "
               "prints it)";
    if (ct_proc_is_confined() || atomic_load(&ender) == CONFINED)
        return "no table, as the program may not start others (seccomp)";
    if (atomic_load(&ender) == UNKNOWN)
        return "no table, as nobody can tell whether the thread that ends the program may start "
               "others (seccomp)";
    if (ct_objects_visit(is_valgrinds, NULL))
        return "no table, as valgrind lets no other process into the program's memory";
    const char *program = ct_tool_path(&why);
    if (!program)
        return why;
    return run(program, path) ? NULL : "the table could not be printed";
}

void ct_show(void)
{
    const char *path = ct_profile_path();
    bool quiet = !ct_rank_speaks(ct_config.rank, ct_config.ranks);
    if (!path)
        return;
    /* The launcher prints profiles in files; nobody else could print a profile in memory. */
    bool launched = ct_config.run && !ct_profile_is_kept();
    if (!ct_config.print && !launched) {
        ct_log(2, "the profile is in ", path, NULL);
        return;
    }
    if (quiet && ct_profile_is_kept()) {
        say_lost(path);
        return;
    }
    if (!ct_log_is_heard())
        return;
    const char *why = print(path);
    if (why && ct_profile_is_kept())
        ct_log(1, why, "; the profile is in ", path);
    else if (why)
        ct_log(1, why, NULL, NULL);
    else if (ct_profile_is_kept())
        say_where_all_are(path);
}
