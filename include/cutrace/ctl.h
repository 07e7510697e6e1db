/* SPDX-License-Identifier: MIT */
/*
 * Messages between `cutrace ctl` and a process with the library, in packets of a SOCK_SEQPACKET
 * socket: the client sends one request and gets one answer, then the process closes the connection.
 *
 * The socket's name is in Linux's abstract space, so that it is in no directory, needs no cleaning
 * up and goes with the process: CT_CTL_NAME and 16 random hexadecimal digits, which nobody can have
 * taken before. The client finds the name by the sockets that the process has open (/proc/PID/fd)
 * and those of its network namespace (/proc/PID/net/unix), and asks the kernel whether it is that
 * process that listens there.
 *
 * Users who may look into the process may ask: a request carries its key, which is a part of the
 * name of a memory file that the process holds (CT_CTL_KEY_NAME and the key). The kernel shows that
 * name, a link in /proc/PID/fd, to the process's own user and to root with its capabilities,
 * through all namespaces, and to nobody else. Numbers of users and processes would say less: each
 * is seen through the reader's own namespaces, where the root of any container may be 0.
 *
 * Numbers are in the machine's byte order: both are on it. A structure that grows is another
 * version.
 */
#ifndef CUTRACE_CTL_H
#define CUTRACE_CTL_H

#include <stdint.h>

#define CT_CTL_NAME "cutrace-ctl-1-"
#define CT_CTL_MAGIC 0x6c746331u
#define CT_CTL_KEY_NAME "cutrace-key-1-"
#define CT_CTL_KEY_DIGITS 32 /* hexadecimal */
#define CT_CTL_PATH_BYTES 4096

enum ct_ctl_command {
    CT_CTL_STATUS,
    CT_CTL_START, /* switches recording on, as cudaProfilerStart */
    CT_CTL_STOP,
    CT_CTL_FLUSH, /* answered when all work complete by now is in the profile */
    CT_CTL_STUCK, /* likewise, and what is in flight; answered also where the driver hangs */
};

struct ct_ctl_request {
    uint32_t magic;
    uint32_t command; /* enum ct_ctl_command */
    char key[CT_CTL_KEY_DIGITS];
};

enum {
    CT_CTL_RECORDING = 1,
    CT_CTL_IN_FILE =
        2, /* the profile is in the file `path`; otherwise in memory, or not yet at all */
};

/*
 * Comes with a descriptor of the profile, open for reading (SCM_RIGHTS), if there is one: the file
 * is valid at every moment (cutrace/format.h).
 */
struct ct_ctl_answer {
    uint32_t magic;
    uint32_t error; /* 0 or an errno: EACCES: not with this key, EINVAL: no such command,
                       EBUSY: not while a call of the driver does not return */
    uint32_t flags;
    uint32_t reserved;
    uint64_t age_ns;         /* since CUDA was initialised */
    uint64_t off_operations; /* operations that came while recording was off */
    char path[CT_CTL_PATH_BYTES];
};

#endif
