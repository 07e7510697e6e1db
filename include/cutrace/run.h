/* SPDX-License-Identifier: MIT */
/*
 * How the processes of a run tell the launcher which files they write.
 *
 * CUTRACE_RUN names a file that begins with CT_RUN_MAGIC. A process appends records, each in one
 * write, made of three texts that each end with a zero byte:
 *
 *     KIND PID     one of the letters below, and the process id in decimal
 *     WANTED       the name that CUTRACE_OUTPUT gave
 *     PATH         the name it became, which has the pid in it where another process was first
 */
#ifndef CUTRACE_RUN_H
#define CUTRACE_RUN_H

#define CT_RUN_MAGIC "cutrace run 1\n"
#define CT_RUN_MAGIC_BYTES 14

enum ct_run_kind {
    CT_RUN_STARTED = 'S', /* CUDA has started; both names are empty */
    CT_RUN_SUMMARY = 'F', /* the profile is in that file */
    CT_RUN_TRACE = 'T',   /* the timeline is in that file */
    CT_RUN_REFUSED = 'R', /* cuInit failed; WANTED is its result, in decimal */
    CT_RUN_PASSED = 'P',  /* a launcher within the run has dealt with that file, a profile */
};

#endif
