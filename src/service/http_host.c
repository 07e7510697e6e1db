/* SPDX-License-Identifier: MIT */
#include "service/http_host.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include "base/text.h"

#define LONGEST 256

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

/* Whether `s` begins with `start`, in letters of whatever case. */
static bool begins(const char *s, const char *start)
{
    while (*start && lower(*s) == lower(*start))
        s++, start++;
    return !*start;
}

/* The next line, or NULL at the end. */
static const char *next_line(const char *s)
{
    while (*s && *s != '\n')
        s++;
    return *s ? s + 1 : NULL;
}

/* Reads a header's value without blanks around it; false: it is longer than any name. */
static bool read_value(const char *s, char name[LONGEST])
{
    struct ct_text t = ct_text_in(name, LONGEST);
    while (*s == ' ' || *s == '\t')
        s++;
    while (*s && *s != '\r' && *s != '\n')
        ct_text_add_char(&t, *s++);
    while (t.len && (name[t.len - 1] == ' ' || name[t.len - 1] == '\t'))
        name[--t.len] = '\0';
    return !ct_text_full(&t);
}

/* Cuts off the port, and the brackets around an address: then *ipv6 is set. */
static bool split(char *name, char **host, bool *ipv6)
{
    char *end = name;
    *ipv6 = *name == '[';
    *host = name + *ipv6;
    while (*end && *end != (*ipv6 ? ']' : ':'))
        end++;
    if (*ipv6 && !*end)
        return false;
    char *rest = end + *ipv6;
    bool ended = !*rest || *rest == ':';
    for (char *p = rest + (*rest == ':'); *p; p++)
        ended &= *p >= '0' && *p <= '9';
    *end = '\0';
    return ended;
}

static bool is_ours(const char *value, const char *own)
{
    char name[LONGEST], *host;
    uint8_t address[16];
    bool ipv6;
    if (!read_value(value, name) || !split(name, &host, &ipv6))
        return false;
    if (ipv6)
        return inet_pton(AF_INET6, host, address) == 1;
    size_t len = ct_strlen(host);
    return inet_pton(AF_INET, host, address) == 1 || (len == 9 && begins(host, "localhost")) ||
           (len && len == ct_strlen(own) && begins(host, own));
}

bool ct_http_is_for_us(const char *request, const char *own)
{
    for (const char *line = next_line(request); line; line = next_line(line))
        if (begins(line, "Host:") && !is_ours(line + 5, own))
            return false;
    return true;
}
