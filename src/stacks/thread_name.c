/* SPDX-License-Identifier: MIT */
#include "stacks/thread_name.h"

#include <errno.h>
#include <sys/prctl.h>

#include "stacks/tree.h"
#include "state/thread.h"
#include "system/spare.h"

#define NAME_BYTES 16
#define ASK_EVERY 4096 /* launches of the thread: it may be given a name later */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Such as joins a number to a name. */
static bool is_joint(char c)
{
    return is_digit(c) || c == '_' || c == '-' || c == '/' || c == '.' || c == ':' || c == '#' ||
           c == ' ';
}

void ct_stack_name_add(struct ct_text *t, const char *name)
{
    size_t bytes = ct_strlen(name);
    if (ct_starts_with(name, "pt_autograd")) {
        ct_text_add(t, CT_STACK_BACKWARD);
        return;
    }
    while (bytes && is_joint(name[bytes - 1]))
        bytes--;
    ct_text_add(t, bytes ? "[thread " : "[thread");
    for (size_t i = 0; i < bytes; i++)
        if (!is_digit(name[i]))
            ct_text_add_char(t, name[i]);
        else if (!i || !is_digit(name[i - 1]))
            ct_text_add_char(t, '#');
    ct_text_add_char(t, ']');
}

static CT_COLD uint32_t ask(void)
{
    char name[NAME_BYTES + 1] = "", text[2 * NAME_BYTES + 1];
    struct ct_text t = ct_text_in(text, sizeof(text));
    int saved_errno = errno;
    if (!ct_spare())
        prctl(PR_GET_NAME, name);
    errno = saved_errno;
    ct_stack_name_add(&t, name);
    uint32_t line = ct_stack_line_add("", text, 0);
    uint32_t node = line == UINT32_MAX ? CT_STACK_NONE : ct_stack_node_add(0, line, 0);
    return node && ct_stack_node_end(node) ? node : CT_STACK_NONE;
}

uint32_t ct_stack_of_name(struct ct_thread *t)
{
    if (ct_unlikely(t->name_asked++ % ASK_EVERY == 0))
        t->name_stack = ask();
    return t->name_stack;
}
