/* SPDX-License-Identifier: MIT */
/* Preloaded beside cutrace: who listens first at the number that it has just got, as a sibling. */
#include <dlfcn.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

static int really_listen(int fd, int backlog)
{
    return ((__typeof__(listen) *)(uintptr_t)dlsym(RTLD_NEXT, "listen"))(fd, backlog);
}

int listen(int fd, int backlog)
{
    static bool done;
    struct sockaddr_in a;
    socklen_t bytes = sizeof(a);
    int on = 1;
    if (!done && !getsockname(fd, (struct sockaddr *)&a, &bytes) && a.sin_family == AF_INET) {
        int rival = socket(AF_INET, SOCK_STREAM, 0);
        done = !setsockopt(rival, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) &&
               !bind(rival, (struct sockaddr *)&a, sizeof(a)) && !really_listen(rival, 1);
    }
    return really_listen(fd, backlog);
}
