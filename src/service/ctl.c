/* SPDX-License-Identifier: MIT */
#include "service/ctl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/config.h"
#include "base/text.h"
#include "cutrace/ctl.h"
#include "drain/drain.h"
#include "launch/bracket.h"
#include "service/profile.h"
#include "state/ask.h"
#include "system/clock.h"
#include "system/fd.h"
#include "system/log.h"
#include "system/proc.h"
#include "system/spare.h"
#include "watch/watchdog.h"

#define LOOK_NS 100000000u
#define LOOK_SOON_NS 5000000u   /* while somebody waits for an answer */
#define PATIENCE_NS 5000000000u /* for a request */
#define VISITORS 4
#define QUEUE 8
#define NAME_DIGITS 16

struct visitor {
    struct ct_fd fd;
    uint64_t came_ns;
    uint32_t flush;  /* that the visitor waits for */
    bool takes_less; /* a profile without what is complete by now will do */
    bool waits;
};

static atomic_bool is_open;
static struct ct_fd listening = CT_FD_NONE, key_file = CT_FD_NONE;
static char key[CT_CTL_KEY_DIGITS];
static uint64_t opened_ns, looked_ns;
static struct visitor visitors[VISITORS];

/* ---- the socket ---- */

/* False: there is no randomness yet; names and keys that others can guess could be taken. */
static bool add_random(struct ct_text *t, size_t digit_count)
{
    static const char digits[] = "0123456789abcdef";
    uint8_t random[CT_CTL_KEY_DIGITS];
    if (getrandom(random, digit_count, GRND_NONBLOCK) != (ssize_t)digit_count)
        return false;
    for (size_t i = 0; i < digit_count; i++)
        ct_text_add_char(t, digits[random[i] & 15]);
    return true;
}

static bool make_name(struct sockaddr_un *name, socklen_t *size)
{
    struct ct_text t = ct_text_in(name->sun_path + 1, sizeof(name->sun_path) - 1);
    *name = (struct sockaddr_un){.sun_family = AF_UNIX}; /* the NUL in front: no file */
    ct_text_add(&t, CT_CTL_NAME);
    bool made = add_random(&t, NAME_DIGITS);
    *size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + t.len);
    return made;
}

static bool make_key(void)
{
    char name[sizeof(CT_CTL_KEY_NAME) + CT_CTL_KEY_DIGITS];
    struct ct_text t = ct_text_in(name, sizeof(name));
    ct_text_add(&t, CT_CTL_KEY_NAME);
    if (!add_random(&t, CT_CTL_KEY_DIGITS))
        return false;
    __builtin_memcpy(key, name + sizeof(CT_CTL_KEY_NAME) - 1, sizeof(key));
    return ct_fd_keep(&key_file, memfd_create(name, MFD_CLOEXEC));
}

static bool listen_at(int fd)
{
    struct sockaddr_un name;
    socklen_t size;
    return make_name(&name, &size) && !bind(fd, (const struct sockaddr *)&name, size) &&
           !listen(fd, QUEUE);
}

/* Where descriptors are few, the program may need each of them. */
void ct_ctl_open(void)
{
    if (!ct_config.control || (ct_spare() && !ct_config.control_asked) || !ct_proc_is_held())
        return;
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || !ct_fd_keep(&listening, fd) || !listen_at(listening.number) || !make_key()) {
        ct_fd_close(&listening);
        ct_fd_close(&key_file);
        ct_log(2, "`cutrace ctl` will not be answered", NULL, NULL);
        return;
    }
    opened_ns = looked_ns = ct_clock_monotonic_ns();
    for (unsigned i = 0; i < VISITORS; i++)
        visitors[i].fd.number = -1;
    atomic_store(&is_open, true);
}

void ct_ctl_close(void)
{
    if (!atomic_exchange(&is_open, false))
        return;
    ct_fd_close(&listening);
    ct_fd_close(&key_file);
    for (unsigned i = 0; i < VISITORS; i++)
        ct_fd_close(&visitors[i].fd);
}

/* ---- visitors ---- */

/* A descriptor that cannot write the profile, though it is the same user's; -1: there is none. */
static int open_profile(void)
{
    char path[64];
    struct ct_text t = ct_text_in(path, sizeof(path));
    int fd = ct_profile_open_descriptor();
    if (fd < 0)
        return -1;
    ct_text_add(&t, "/proc/self/fd/");
    ct_text_add_u64(&t, (uint64_t)fd);
    return open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

static void send_answer(int fd, struct ct_ctl_answer *a, int profile)
{
    union {
        char room[CMSG_SPACE(sizeof(int))];
        struct cmsghdr aligned;
    } control = {0};
    struct iovec data = {a, sizeof(*a)};
    struct msghdr m = {.msg_iov = &data, .msg_iovlen = 1};
    if (profile >= 0) {
        m.msg_control = control.room;
        m.msg_controllen = sizeof(control.room);
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(int));
        __builtin_memcpy(CMSG_DATA(c), &profile, sizeof(int));
    }
    sendmsg(fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void answer(struct visitor *v, uint32_t error)
{
    static struct ct_ctl_answer a; /* not on the drain thread's stack, which is small */
    int profile = -1;
    a = (struct ct_ctl_answer){.magic = CT_CTL_MAGIC, .error = error};
    if (!error) {
        struct ct_text t = ct_text_in(a.path, sizeof(a.path));
        bool is_kept = ct_profile_path() && ct_profile_is_kept();
        a.flags = (ct_recording() ? CT_CTL_RECORDING : 0) | (is_kept ? CT_CTL_IN_FILE : 0);
        a.age_ns = ct_clock_monotonic_ns() - opened_ns;
        a.off_operations = ct_recording_off_operations();
        ct_text_add(&t, is_kept ? ct_profile_path() : "");
        profile = open_profile();
    }
    send_answer(v->fd.number, &a, profile);
    if (profile >= 0)
        close(profile);
    ct_fd_close(&v->fd);
}

/* Compares all digits, so that the time tells nothing. */
static bool has_key(const struct ct_ctl_request *r)
{
    unsigned differs = 0;
    for (unsigned i = 0; i < CT_CTL_KEY_DIGITS; i++)
        differs |= (unsigned)(r->key[i] ^ key[i]);
    return !differs;
}

static void obey(struct visitor *v, const struct ct_ctl_request *r)
{
    if (r->command <= CT_CTL_STUCK && !has_key(r)) {
        answer(v, EACCES);
        return;
    }
    if (r->command == CT_CTL_STUCK)
        ct_watch_ask();
    switch (r->command) {
    case CT_CTL_START:
    case CT_CTL_STOP:
        if (ct_is_drain_thread)
            ct_drain_record(r->command == CT_CTL_START);
        answer(v, ct_is_drain_thread ? 0 : EBUSY);
        break;
    case CT_CTL_STUCK:
    case CT_CTL_FLUSH:
        v->flush = ct_drain_ask_flush();
        v->takes_less = r->command == CT_CTL_STUCK;
        v->waits = true;
        break;
    default:
        answer(v, r->command == CT_CTL_STATUS ? 0 : EINVAL);
    }
}

/* Descriptors that come with a request are closed by the kernel, as there is no room for them. */
static void hear(struct visitor *v, uint64_t now_ns)
{
    struct ct_ctl_request r = {0};
    ssize_t n = recv(v->fd.number, &r, sizeof(r), MSG_DONTWAIT | MSG_TRUNC);
    if (n < 0 && errno == EAGAIN && now_ns - v->came_ns < PATIENCE_NS)
        return;
    if (n < 0 || r.magic != CT_CTL_MAGIC)
        ct_fd_close(&v->fd);
    else if (n != sizeof(r)) /* a request of another version */
        answer(v, EINVAL);
    else
        obey(v, &r);
}

static void deal(struct visitor *v, uint64_t now_ns)
{
    if (!ct_fd_is_ours(&v->fd))
        v->fd.number = -1;
    else if (!v->waits)
        hear(v, now_ns);
    else if (ct_drain_is_flushed(v->flush) || (v->takes_less && !ct_is_drain_thread))
        answer(v, 0); /* the watch writes the profile ahead of each look */
}

/* A silent visitor is in nobody's way: a newcomer takes the place of the one that came first. */
static struct visitor *find_place(void)
{
    struct visitor *place = NULL;
    for (unsigned i = 0; i < VISITORS; i++) {
        struct visitor *v = &visitors[i];
        if (v->fd.number < 0)
            return v;
        if (!v->waits && (!place || v->came_ns < place->came_ns))
            place = v;
    }
    return place;
}

static bool receive(uint64_t now_ns)
{
    struct visitor *v = find_place();
    int fd = v ? accept4(listening.number, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK) : -1;
    if (fd < 0)
        return false;
    ct_fd_close(&v->fd);
    if (!ct_fd_keep(&v->fd, fd))
        return false;
    v->came_ns = now_ns;
    v->waits = false;
    return true;
}

/*
 * Descriptors that the program closed may be its own by now, and system calls that it has forbidden
 * since may end it: then answers are over.
 */
static bool may_go_on(void)
{
    return ct_fd_is_ours(&listening) && ct_fd_is_ours(&key_file) && ct_proc_is_held() &&
           !ct_proc_is_confined();
}

static bool is_anybody_here(void)
{
    for (unsigned i = 0; i < VISITORS; i++)
        if (visitors[i].fd.number >= 0)
            return true;
    return false;
}

void ct_ctl_look(void)
{
    static bool somebody;
    uint64_t now_ns = ct_clock_monotonic_ns();
    if (!atomic_load_explicit(&is_open, memory_order_acquire) ||
        now_ns - looked_ns < (somebody ? LOOK_SOON_NS : LOOK_NS))
        return;
    looked_ns = now_ns;
    if (!may_go_on()) {
        ct_ctl_close();
        return;
    }
    unsigned came = 0;
    do {
        for (unsigned i = 0; i < VISITORS; i++)
            if (visitors[i].fd.number >= 0)
                deal(&visitors[i], now_ns);
    } while (came++ < QUEUE && receive(now_ns));
    somebody = is_anybody_here();
}
