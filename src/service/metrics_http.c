/* SPDX-License-Identifier: MIT */
#include "service/metrics_http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/config.h"
#include "base/text.h"
#include "drain/drain.h"
#include "output/exposition.h"
#include "service/http_host.h"
#include "service/naming.h"
#include "service/profile.h"
#include "system/fd.h"
#include "system/log.h"
#include "system/mem.h"

#define CLIENTS 4
#define PORTS 64             /* that are tried, where processes of one machine have one variable */
#define LOOK_NS 50000000u    /* between looks for new clients */
#define SERVE_NS 1000000u    /* between looks at clients that are there */
#define AGAIN_NS 1000000000u /* between tries to listen, when the program closed the socket */
#define PATIENCE_NS 10000000000u
#define REQUEST_BYTES 4096
#define HEAD_BYTES 256

#define OPENMETRICS "application/openmetrics-text"
#define CLASSIC_TYPE "text/plain; version=0.0.4; charset=utf-8"
#define OPENMETRICS_TYPE OPENMETRICS "; version=1.0.0; charset=utf-8"

struct client {
    bool here;
    struct ct_fd fd;
    uint64_t since_ns;
    char request[REQUEST_BYTES];
    size_t request_bytes;
    char head[HEAD_BYTES];
    size_t head_bytes;
    struct ct_buffer body; /* client's own, as a text that is being sent must not change */
    size_t sent;
    bool answering;
};

static struct client clients[CLIENTS];
static struct ct_fd listener = CT_FD_NONE;
static uint64_t looked_ns, tried_ns;
static bool said;
static unsigned used; /* clients */
static uint16_t port; /* number that the listener has got; 0: none yet */

/* ---- listening ---- */

union address {
    struct sockaddr any;
    struct sockaddr_in ipv4;
    struct sockaddr_in6 ipv6;
};

static socklen_t make_address(union address *a, uint16_t number)
{
    const struct ct_config_address *wanted = &ct_config.metrics;
    *a = (union address){0};
    if (wanted->is_ipv6) {
        a->ipv6 = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = htons(number)};
        __builtin_memcpy(&a->ipv6.sin6_addr, wanted->ip, sizeof(a->ipv6.sin6_addr));
        return sizeof(a->ipv6);
    }
    a->ipv4 = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(number)};
    __builtin_memcpy(&a->ipv4.sin_addr, wanted->ip, sizeof(a->ipv4.sin_addr));
    return sizeof(a->ipv4);
}

/* A bound socket keeps its number even if another process listens there: each try has its own. */
static int listen_at(uint16_t number)
{
    union address a;
    socklen_t bytes = make_address(&a, number);
    int on = 1, fd = socket(a.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0 || (!setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) &&
                   !bind(fd, &a.any, bytes) && !listen(fd, CLIENTS)))
        return fd;
    int saved_errno = errno;
    close(fd);
    errno = saved_errno;
    return -1;
}

static void say_where(int fd)
{
    const struct ct_config_address *wanted = &ct_config.metrics;
    union address a = {0};
    socklen_t bytes = sizeof(a);
    char text[80], ip[INET6_ADDRSTRLEN] = "";
    struct ct_text t = ct_text_in(text, sizeof(text));
    getsockname(fd, &a.any, &bytes);
    inet_ntop(wanted->is_ipv6 ? AF_INET6 : AF_INET, wanted->ip, ip, sizeof(ip));
    ct_text_add(&t, wanted->is_ipv6 ? "[" : "");
    ct_text_add(&t, ip);
    ct_text_add(&t, wanted->is_ipv6 ? "]:" : ":");
    port = ntohs(wanted->is_ipv6 ? a.ipv6.sin6_port : a.ipv4.sin_port);
    ct_text_add_u64(&t, port);
    ct_text_add(&t, "/metrics");
    ct_log(2, "metrics are at http://", text, NULL);
}

/* Listens at the port asked for, or the next that no other process has. */
static int listen_somewhere(void)
{
    uint64_t first = port ? port : ct_config.metrics.port;
    uint64_t last = first ? ct_min(first + PORTS - 1, UINT16_MAX) : 0;
    int fd = -1;
    errno = EADDRINUSE;
    for (uint64_t n = first; n <= last && fd < 0 && errno == EADDRINUSE; n++)
        fd = listen_at((uint16_t)n);
    return fd;
}

static const char *reason(int number)
{
    return number == EADDRINUSE      ? ": other processes have all 64 ports from there on"
           : number == EACCES        ? ": permission denied"
           : number == EADDRNOTAVAIL ? ": no address of this machine"
           : number == EAFNOSUPPORT  ? ": this machine has no such addresses"
           : number == EPERM         ? ": operation not permitted"
           : number == EMFILE        ? ": too many open files"
           : number == ENFILE        ? ": too many open files in the system"
                                     : ": the system refused it";
}

static void start_listening(void)
{
    if (ct_fd_keep(&listener, listen_somewhere())) {
        if (!said)
            say_where(listener.number);
    } else if (!said) {
        ct_log(1, "no metrics over HTTP", reason(errno), NULL);
    }
    said = true;
}

void ct_metrics_http_start(void)
{
    if (ct_config.metrics.wanted)
        start_listening();
}

/* ---- clients ---- */

static void drop(struct client *c)
{
    if (!c->here)
        return;
    ct_fd_close(&c->fd);
    c->here = false;
    used--;
}

static struct client *place_for_one(void)
{
    struct client *oldest = &clients[0];
    for (unsigned i = 0; i < CLIENTS; i++) {
        if (!clients[i].here)
            return &clients[i];
        if (clients[i].since_ns < oldest->since_ns)
            oldest = &clients[i];
    }
    drop(oldest);
    return oldest;
}

/* Lets in at most as many clients in one look as there are places. */
static void let_in(uint64_t now_ns)
{
    for (unsigned i = 0; i < CLIENTS; i++) {
        int fd = accept4(listener.number, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0)
            return;
        struct client *c = place_for_one();
        if (!ct_fd_keep(&c->fd, fd))
            continue;
        c->since_ns = now_ns;
        c->request_bytes = c->sent = 0;
        c->answering = false;
        c->here = true;
        used++;
    }
}

/* ---- answers ---- */

static void put_head(struct client *c, const char *status, const char *type)
{
    struct ct_text t = ct_text_in(c->head, sizeof(c->head));
    ct_text_add(&t, "HTTP/1.1 ");
    ct_text_add(&t, status);
    ct_text_add(&t, "\r\nContent-Type: ");
    ct_text_add(&t, type);
    ct_text_add(&t, "\r\nContent-Length: ");
    ct_text_add_u64(&t, c->body.len_bytes);
    ct_text_add(&t, "\r\nConnection: close\r\n\r\n");
    c->head_bytes = t.len;
    c->answering = true;
}

static void refuse(struct client *c, const char *status)
{
    c->body.len_bytes = 0;
    put_head(c, status, "text/plain");
}

struct question {
    struct ct_buffer *body;
    enum ct_metrics_form form;
    bool answered;
};

static void make_text(void *arg)
{
    struct question *q = arg;
    q->answered = ct_metrics_text(q->body, q->form, ct_profile_process());
}

static void answer_with_metrics(struct client *c)
{
    bool open = ct_contains(c->request, OPENMETRICS);
    struct question q = {&c->body, open ? CT_METRICS_OPENMETRICS : CT_METRICS_CLASSIC, false};
    if (ct_drain_look(make_text, &q) && q.answered)
        put_head(c, "200 OK", open ? OPENMETRICS_TYPE : CLASSIC_TYPE);
    else
        refuse(c, "503 Service Unavailable");
}

static void answer(struct client *c)
{
    const char *request = c->request;
    if (!ct_starts_with(request, "GET "))
        refuse(c, "405 Method Not Allowed");
    else if (!ct_http_is_for_us(request, ct_naming_host()))
        refuse(c, "421 Misdirected Request");
    else if (ct_starts_with(request + 4, "/metrics ") || ct_starts_with(request + 4, "/metrics?"))
        answer_with_metrics(c);
    else
        refuse(c, "404 Not Found");
}

/* False: the client is to be dropped. */
static bool hear(struct client *c)
{
    size_t room = sizeof(c->request) - 1 - c->request_bytes;
    ssize_t n = recv(c->fd.number, c->request + c->request_bytes, room, MSG_DONTWAIT);
    if (n <= 0)
        return n < 0 && (errno == EAGAIN || errno == EINTR);
    c->request_bytes += (size_t)n;
    c->request[c->request_bytes] = '\0';
    if (ct_contains(c->request, "\r\n\r\n"))
        answer(c);
    else if (c->request_bytes + 1 == sizeof(c->request))
        refuse(c, "431 Request Header Fields Too Large");
    return true;
}

static bool tell(struct client *c)
{
    size_t all = c->head_bytes + c->body.len_bytes;
    while (c->sent < all) {
        bool head = c->sent < c->head_bytes;
        const char *from = head ? c->head + c->sent : c->body.data + (c->sent - c->head_bytes);
        size_t bytes = head ? c->head_bytes - c->sent : all - c->sent;
        ssize_t n = send(c->fd.number, from, bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n <= 0)
            return n < 0 && (errno == EAGAIN || errno == EINTR);
        c->sent += (size_t)n;
    }
    shutdown(c->fd.number, SHUT_WR);
    return false;
}

static void serve(struct client *c, uint64_t now_ns)
{
    if (!c->here)
        return;
    bool stays = now_ns - c->since_ns < PATIENCE_NS && ct_fd_is_ours(&c->fd);
    if (stays && !c->answering)
        stays = hear(c);
    if (stays && c->answering)
        stays = tell(c);
    if (!stays)
        drop(c);
}

bool ct_metrics_http_is_due(uint64_t now_ns)
{
    if (!ct_config.metrics.wanted || now_ns - looked_ns < (used ? SERVE_NS : LOOK_NS))
        return false;
    looked_ns = now_ns;
    return true;
}

/* Whether we listen: the program may have closed the socket, with all descriptors there are. */
static bool listens(uint64_t now_ns)
{
    if (ct_fd_is_ours(&listener))
        return true;
    listener.number = -1;
    if (now_ns - tried_ns < AGAIN_NS)
        return false;
    tried_ns = now_ns;
    start_listening();
    return listener.number >= 0;
}

void ct_metrics_http_tend(uint64_t now_ns)
{
    if (listens(now_ns))
        let_in(now_ns);
    for (unsigned i = 0; i < CLIENTS; i++)
        serve(&clients[i], now_ns);
}

void ct_metrics_http_forget(void)
{
    for (unsigned i = 0; i < CLIENTS; i++) {
        drop(&clients[i]);
        clients[i].body = (struct ct_buffer){0};
    }
    ct_fd_close(&listener);
    used = 0;
    looked_ns = tried_ns = 0;
    said = false;
    port = 0;
}
