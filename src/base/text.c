/* SPDX-License-Identifier: MIT */
#include "base/text.h"

struct ct_text ct_text_in(char *data, size_t size)
{
    data[0] = '\0';
    return (struct ct_text){.data = data, .len = 0, .size = size};
}

void ct_text_add_char(struct ct_text *t, char c)
{
    if (ct_text_full(t))
        return;
    t->data[t->len++] = c;
    t->data[t->len] = '\0';
}

void ct_text_add(struct ct_text *t, const char *s)
{
    while (*s)
        ct_text_add_char(t, *s++);
}

void ct_text_add_u64(struct ct_text *t, uint64_t n)
{
    char digits[20];
    size_t len = 0;
    do
        digits[len++] = (char)('0' + n % 10);
    while (n /= 10);
    while (len)
        ct_text_add_char(t, digits[--len]);
}

bool ct_text_full(const struct ct_text *t)
{
    return t->len + 1 >= t->size;
}

size_t ct_strlen(const char *s)
{
    size_t len = 0;
    while (s[len])
        len++;
    return len;
}

bool ct_streq(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

bool ct_starts_with(const char *s, const char *start)
{
    while (*start && *s == *start)
        s++, start++;
    return !*start;
}

bool ct_contains(const char *s, const char *part)
{
    for (; *s; s++)
        if (ct_starts_with(s, part))
            return true;
    return !*part;
}

const char *ct_file_name(const char *path)
{
    const char *name = path;
    for (; *path; path++)
        if (*path == '/')
            name = path + 1;
    return name;
}

bool ct_is_library(const char *path, const char *name)
{
    const char *file = ct_file_name(path);
    char end = ct_starts_with(file, name) ? file[ct_strlen(name)] : '-';
    return end == '\0' || end == '.';
}

size_t ct_strnlen(const char *s, size_t most)
{
    size_t len = 0;
    while (len < most && s[len])
        len++;
    return len;
}

bool ct_same_text(const char *a, const char *b, size_t len)
{
    size_t i = 0;
    while (i < len && a[i] && a[i] == b[i])
        i++;
    return i == len && !a[i];
}

#define FNV_START 0xcbf29ce484222325u

/* FNV-1a */
static uint64_t hash_more(uint64_t h, char c)
{
    return (h ^ (unsigned char)c) * 0x100000001b3u;
}

uint64_t ct_hash_text(const char *s)
{
    uint64_t h = FNV_START;
    while (*s)
        h = hash_more(h, *s++);
    return h;
}

uint64_t ct_hash_bytes(const char *s, size_t len)
{
    uint64_t h = FNV_START;
    for (size_t i = 0; i < len; i++)
        h = hash_more(h, s[i]);
    return h;
}

bool ct_parse_u64(const char *s, uint64_t *value)
{
    uint64_t n = 0;
    if (!*s)
        return false;
    for (; *s; s++) {
        if (*s < '0' || *s > '9' || n > (UINT64_MAX - 9) / 10)
            return false;
        n = n * 10 + (uint64_t)(*s - '0');
    }
    *value = n;
    return true;
}

/* One star is remembered at a time: a later star makes the earlier one's choice irrelevant. */
bool ct_glob(const char *pattern, size_t len, const char *s)
{
    const char *p = pattern, *end = pattern + len, *star = NULL, *retry = NULL;
    while (*s) {
        if (p < end && *p == '*') {
            star = ++p;
            retry = s;
        } else if (p < end && (*p == '?' || *p == *s)) {
            p++, s++;
        } else if (star) {
            p = star;
            s = ++retry;
        } else {
            return false;
        }
    }
    while (p < end && *p == '*')
        p++;
    return p == end;
}

bool ct_list_next(const char **list, uint64_t *number)
{
    const char *p = *list;
    if (!*p)
        return false;
    for (*number = 0; *p >= '0' && *p <= '9'; p++)
        *number = 10 * *number + (uint64_t)(*p - '0');
    *list = p + (*p == ',');
    return true;
}
