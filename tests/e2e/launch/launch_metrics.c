/* SPDX-License-Identifier: MIT */
/* CUTRACE_METRICS: files for a collector, and a server that no client can hold up. */
#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rig.h"

#define TRIES 30000 /* of a millisecond or more */

static void touch(const char *name)
{
    int fd = open(name, O_WRONLY | O_CREAT, 0666);
    ck_assert_int_ge(fd, 0);
    close(fd);
}

/* ---- files ---- */

/* The one file in the directory. */
static char *read_metrics(const char *directory)
{
    char path[600] = "";
    unsigned n = 0;
    DIR *d = opendir(directory);
    for (struct dirent *e; d && (e = readdir(d));)
        if (*e->d_name != '.' && ++n)
            snprintf(path, sizeof(path), "%s/%s", directory, e->d_name);
    closedir(d);
    ck_assert_uint_eq(n, 1);
    ck_assert_ptr_nonnull(strstr(path, ".prom"));
    return stage_read(path);
}

static void check_alpha(const char *text, const char *count)
{
    char sample[64];
    const char *operations = strstr(text, "\ncutrace_operations_total{");
    snprintf(sample, sizeof(sample), "name=\"alpha\"} %s\n", count);
    ck_assert_msg(operations && strstr(operations, sample), "%s", text);
}

START_TEST(a_file)
{
    ck_assert_int_eq(mkdir("dir", 0777), 0);
    struct stage_run r = PLAY(.argv = {"small", "250"}, .env = {"CUTRACE_METRICS=textfile:dir"});
    ck_assert_int_eq(r.status, 0);
    char *text = read_metrics("dir");
    check_alpha(text, "250");
    free(text);
    stage_drop(&r);
}
END_TEST

static void touch_old(const char *path)
{
    touch(path);
    utimensat(AT_FDCWD, path, (struct timespec[]){{1000000000, 0}, {1000000000, 0}}, 0);
}

/* Left by processes that are long gone; another user's or another's files stay. */
START_TEST(old_files_go)
{
    static const char *const gone[] = {"dir/cutrace-node-1.prom", "dir/.cutrace-node-1.part"};
    static const char *const kept[] = {
        "dir/.other",          "dir/cutrace-report.html", "dir/cutrace-0.2.0.tar.xz",
        "dir/.cutrace-secret", "dir/cutrace-notes.prom",  "dir/cutrace-node-1.part"};
    static const char strangers[] = "dir/cutrace-node-2.prom";
    ck_assert_int_eq(mkdir("dir", 0777), 0);
    for (size_t i = 0; i < sizeof(gone) / sizeof(gone[0]); i++)
        touch_old(gone[i]);
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
        touch_old(kept[i]);
    touch_old(strangers);
    bool is_strangers = !chown(strangers, 65534, 65534);
    struct stage_run r = PLAY(.argv = {"small", "10"}, .env = {"CUTRACE_METRICS=textfile:dir"});
    for (size_t i = 0; i < sizeof(gone) / sizeof(gone[0]); i++)
        ck_assert_msg(!stage_exists(gone[i]), "%s is there", gone[i]);
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
        ck_assert_msg(stage_exists(kept[i]), "%s is gone", kept[i]);
        unlink(kept[i]);
    }
    ck_assert_int_eq(stage_exists(strangers), is_strangers);
    unlink(strangers);
    free(read_metrics("dir"));
    stage_drop(&r);
}
END_TEST

START_TEST(no_directory)
{
    struct stage_run r = PLAY(.argv = {"small", "10"}, .env = {"CUTRACE_METRICS=textfile:nowhere"});
    ck_assert_int_eq(r.status, 0);
    ck_assert_uint_eq(stage_said(&r), 1);
    ck_assert_ptr_nonnull(strstr(r.err, "cutrace: no metrics in /"));
    ck_assert_ptr_nonnull(strstr(r.err, "/nowhere: no such directory\n"));
    stage_drop(&r);
}
END_TEST

static const char *const wrong[] = {
    "textfile:",
    "openmetrics:",
    "openmetrics:x",
    "openmetrics:65536",
    "openmetrics:1.2.3:9400",
    "openmetrics:1.2.3.256:9400",
    "openmetrics:9400,",
    ",openmetrics:9400",
    "9400",
    "none,none",
    "openmetrics:127.0.0.1:9400x",
    "openmetrics:::1:9400",
    "openmetrics:[::1]",
    "openmetrics:[::1:9400",
    "openmetrics:[127.0.0.1]:9400",
    "openmetrics:example.org:9400",
    "",
};

START_TEST(wrong_values)
{
    char variable[100];
    snprintf(variable, sizeof(variable), "CUTRACE_METRICS=%s", wrong[_i]);
    struct stage_run r = PLAY(.argv = {"small", "10"}, .env = {variable});
    ck_assert_int_eq(r.status, 0);
    ck_assert_msg(stage_said(&r) == 1, "%s", r.err);
    ck_assert_ptr_nonnull(
        strstr(r.err, "' is not possible, using none (textfile:DIR,openmetrics:"));
    stage_drop(&r);
}
END_TEST

/* ---- the server ---- */

static uint16_t port;
static int family = AF_INET;

/* As it says itself, in the file that the rig has given it. */
static struct rig start_server(const char *destinations)
{
    const char *const argv[] = {rig_launcher(), "--metrics-to", destinations, "--log-level", "2",
                                rig_actor(),    "serve",        NULL};
    struct rig r = rig_start(argv);
    port = 0;
    for (unsigned i = 0; i < TRIES && !port; i++, rig_pause(1)) {
        char *said = stage_exists("err") ? stage_read("err") : strdup("");
        const char *at = strstr(said, "metrics are at http://"), *end = NULL;
        end = at ? strstr(at, "/metrics\n") : NULL;
        for (const char *p = at; end && p < end; p++)
            port = *p == ':' ? (uint16_t)atoi(p + 1) : port;
        free(said);
    }
    ck_assert_uint_ne(port, 0);
    return r;
}

static void stop_server(struct rig *r)
{
    touch("stop");
    ck_assert_int_eq(rig_wait(r), 0);
    close(r->out);
}

static int dial(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};
    struct sockaddr_in6 a6 = {
        .sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    struct timeval patience = {.tv_sec = 30};
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(family, SOCK_STREAM, 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    if (family == AF_INET ? !connect(fd, (struct sockaddr *)&a, sizeof(a))
                          : !connect(fd, (struct sockaddr *)&a6, sizeof(a6)))
        return fd;
    close(fd);
    return -1;
}

/* All that is answered; "" where nobody is. */
static const char *ask(const char *request)
{
    static char text[1 << 20];
    size_t len = 0;
    int fd = dial();
    if (fd >= 0 && send(fd, request, strlen(request), MSG_NOSIGNAL) > 0)
        for (ssize_t n; (n = recv(fd, text + len, sizeof(text) - 1 - len, 0)) > 0;)
            len += (size_t)n;
    text[len] = '\0';
    if (fd >= 0)
        close(fd);
    return text;
}

#define GET "GET /metrics HTTP/1.1\r\nHost: localhost\r\n"

/* Until that many launches are told. */
static void await(const char *count)
{
    char sample[64];
    snprintf(sample, sizeof(sample), "name=\"alpha\"} %s\n", count);
    const char *text = "";
    for (unsigned i = 0; i < TRIES && !strstr(text, sample); i++, rig_pause(1))
        text = ask(GET "\r\n");
    ck_assert_msg(strstr(text, "HTTP/1.1 200 OK\r\n") == text, "%.300s", text);
    check_alpha(text, count);
}

START_TEST(served)
{
    struct rig r = start_server("openmetrics:0");
    await("100");
    ck_assert_ptr_nonnull(strstr(ask(GET "\r\n"), "Content-Type: text/plain; version=0.0.4"));
    const char *open = ask(GET "Accept: application/openmetrics-text;version=1.0.0\r\n\r\n");
    ck_assert_ptr_nonnull(strstr(open, "Content-Type: application/openmetrics-text"));
    ck_assert_ptr_nonnull(strstr(open, "\n# EOF\n"));
    const char *query = ask("GET /metrics?name=x HTTP/1.1\r\nHost: localhost\r\n\r\n");
    ck_assert_msg(!strncmp(query, "HTTP/1.1 200 OK\r\n", 17), "%.99s", query);
    ck_assert_ptr_nonnull(strstr(ask("GET / HTTP/1.1\r\n\r\n"), "404 Not Found"));
    ck_assert_ptr_nonnull(strstr(ask("GET /metricss HTTP/1.1\r\n\r\n"), "404 Not Found"));
    ck_assert_ptr_nonnull(strstr(ask("POST /metrics HTTP/1.1\r\n\r\n"), "405 Method"));
    touch("more");
    await("200");
    stop_server(&r);
}
END_TEST

static const struct {
    const char *destination;
    int family;
} places[] = {
    {"openmetrics:[::1]:0", AF_INET6},
    {"openmetrics:[::]:0", AF_INET6},
    {"openmetrics:localhost:0", AF_INET},
    {"openmetrics:0.0.0.0:0", AF_INET},
};

START_TEST(served_at)
{
    int probe = socket(places[_i].family, SOCK_STREAM, 0);
    ct_skip_if(probe < 0, "this machine has no such addresses");
    close(probe);
    family = places[_i].family;
    struct rig r = start_server(places[_i].destination);
    await("100");
    stop_server(&r);
}
END_TEST

/* A page that has its name resolved to this machine can write that in many ways. */
static const char *const foreign[] = {
    "Host: evil.example",
    "host:evil.example:9400",
    "HOST: 127.0.0.1.evil.example",
    "Host: localhost.evil.org",
    "Host: [::1].evil.org",
    "Host: [::1",
    "Host: 127.0.0.1:9400x",
    "Host: 127.1",
    "Host:",
    "Host: 127.0.0.1\r\nHost: x",
    "Host: evil.example:x\r",
    "A: b\r\nHost:\tevil.example",
};
static const char *const own[] = {
    "Host: 127.0.0.1",  "Host: 10.1.2.3:9400", "host: LocalHost:9400",
    "Host: [::1]:9400", "Host:[fe80::1] ",     "A: b",
};

START_TEST(hosts)
{
    char request[400], name[200], command[300];
    struct rig r = start_server("openmetrics:0");
    for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++) {
        snprintf(request, sizeof(request), "GET /metrics HTTP/1.1\r\n%s\r\n\r\n", foreign[i]);
        const char *text = ask(request);
        ck_assert_msg(!strncmp(text, "HTTP/1.1 421 ", 13) && !strstr(text, "cutrace_"), "%s: %.99s",
                      foreign[i], text);
    }
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
        snprintf(request, sizeof(request), "GET /metrics HTTP/1.1\r\n%s\r\n\r\n", own[i]);
        ck_assert_msg(!strncmp(ask(request), "HTTP/1.1 200 ", 13), "%s", own[i]);
    }
    ck_assert_int_eq(gethostname(name, sizeof(name)), 0);
    snprintf(request, sizeof(request), "GET /metrics HTTP/1.1\r\nHost: %s:1\r\n\r\n", name);
    const char *text = ask(request);
    ck_assert_msg(!strncmp(text, "HTTP/1.1 200 ", 13), "%s", name);
    snprintf(command, sizeof(command), "command=\"%s\"}", rig_actor()); /* without "serve" */
    ck_assert_ptr_nonnull(strstr(text, command));
    stop_server(&r);
}
END_TEST

/* Nothing sent, half of a request, more than a request, an answer that nobody takes. */
START_TEST(hostile_clients)
{
    static char flood[100000];
    int silent[20];
    struct rig r = start_server("openmetrics:0");
    memset(flood, 'x', sizeof(flood) - 1);
    for (unsigned i = 0; i < 20; i++) {
        silent[i] = dial();
        if (i % 3)
            send(silent[i], GET, i % 3 == 1 ? 10 : strlen(GET), MSG_NOSIGNAL);
    }
    await("100");
    ask(flood);
    ask("\r\n\r\n");
    int unread = dial();
    send(unread, GET "\r\n", strlen(GET "\r\n"), MSG_NOSIGNAL);
    touch("more");
    await("200");
    stop_server(&r); /* with all of them still there */
    for (unsigned i = 0; i < 20; i++)
        close(silent[i]);
    close(unread);
}
END_TEST

/* It comes back at the same place. */
START_TEST(descriptors_closed)
{
    struct rig r = start_server("openmetrics:0");
    await("100");
    touch("close");
    for (unsigned i = 0; i < TRIES && stage_exists("close"); i++)
        rig_pause(1);
    touch("more");
    await("200");
    stop_server(&r);
}
END_TEST

/* The next number, where there is one already. */
START_TEST(port_in_use)
{
    struct sockaddr_in a = {.sin_family = AF_INET};
    socklen_t bytes = sizeof(a);
    char destination[40];
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert(!bind(fd, (struct sockaddr *)&a, bytes) && !listen(fd, 1));
    getsockname(fd, (struct sockaddr *)&a, &bytes);
    snprintf(destination, sizeof(destination), "openmetrics:127.0.0.1:%u", ntohs(a.sin_port));
    struct rig r = start_server(destination);
    ck_assert_uint_ne(port, ntohs(a.sin_port));
    await("100");
    stop_server(&r);
    close(fd);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("launch_metrics");
    tcase_add_test(t, a_file);
    tcase_add_test(t, old_files_go);
    tcase_add_test(t, no_directory);
    tcase_add_loop_test(t, wrong_values, 0, sizeof(wrong) / sizeof(wrong[0]));
    tcase_add_test(t, served);
    tcase_add_loop_test(t, served_at, 0, sizeof(places) / sizeof(places[0]));
    tcase_add_test(t, hosts);
    tcase_add_test(t, hostile_clients);
    tcase_add_test(t, descriptors_closed);
    tcase_add_test(t, port_in_use);
    return stage_main("launch_metrics", t);
}
