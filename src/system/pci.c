/* SPDX-License-Identifier: MIT */
#include "system/pci.h"

#include <errno.h>
#include <fcntl.h>

#include "base/text.h"
#include "system/cancel.h"
#include "system/fd.h"
#include "system/proc.h"

/* Line codings, PCI Express base specification, generations 1 to 6: `carry` parts of `of` are
 * data. */
static const struct {
    uint32_t tenths; /* tenths of a GT/s, at most */
    uint32_t of, carry;
} codings[] = {{50, 10, 8}, {320, 130, 128}, {640, 256, 242}};

static const char *number(const char *text, uint32_t *n)
{
    for (*n = 0; *text >= '0' && *text <= '9' && *n < 100000; text++)
        *n = 10 * *n + (uint32_t)(*text - '0');
    return text;
}

uint32_t ct_pci_link_of(const char *speed, const char *width)
{
    uint32_t tenths, tenth = 0, lanes;
    const char *rest = number(speed, &tenths);
    if (*rest == '.')
        number(rest + 1, &tenth);
    tenths = 10 * tenths + tenth;
    number(width, &lanes);
    if (tenth > 9 || lanes > 32)
        return 0;
    for (size_t i = 0; i < sizeof(codings) / sizeof(codings[0]); i++)
        if (tenths <= codings[i].tenths)
            return (uint32_t)((uint64_t)tenths * 100 * lanes * codings[i].carry / codings[i].of /
                              8);
    return 0;
}

static void add_hex(struct ct_text *t, uint32_t n, unsigned digits)
{
    while (digits--)
        ct_text_add_char(t, "0123456789abcdef"[n >> 4 * digits & 15]);
}

static void read_attribute(const struct ct_pci_address *a, const char *name, char *text,
                           size_t size)
{
    char path[80];
    struct ct_text t = ct_text_in(path, sizeof(path));
    ct_text_add(&t, "/sys/bus/pci/devices/");
    add_hex(&t, a->domain, 4);
    ct_text_add(&t, ":");
    add_hex(&t, a->bus, 2);
    ct_text_add(&t, ":");
    add_hex(&t, a->device, 2);
    ct_text_add(&t, ".0/");
    ct_text_add(&t, name);
    ct_fd_take_text(open(path, O_RDONLY | O_CLOEXEC), text, size);
}

/* A program that filters its system calls may end at one that it does not make itself. */
uint32_t ct_pci_link_mbs(const struct ct_pci_address *a)
{
    char speed[32] = "", width[32] = "";
    int saved_errno = errno, cancel = ct_cancel_disable();
    if (ct_proc_is_held() && !ct_proc_is_confined()) {
        read_attribute(a, "max_link_speed", speed, sizeof(speed));
        read_attribute(a, "max_link_width", width, sizeof(width));
    }
    ct_cancel_restore(cancel);
    errno = saved_errno;
    return ct_pci_link_of(speed, width);
}
