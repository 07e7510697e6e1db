/* SPDX-License-Identifier: MIT */
/* The live table on a terminal. */
#include <locale.h>
#include <ncurses.h>
#include <stdlib.h>
#include <term.h>
#include <time.h>
#include <unistd.h>

#include "messages.h"
#include "top.h"

#define HEAD (TOP_HEAD + 2) /* and the line of order and keys, and the heading */

struct screen {
    struct top *top;
    enum top_order order;
    size_t first; /* row that is shown first */
};

static void put_line(int y, struct ct_string *text)
{
    mvaddnstr(y, 0, text->data, -1); /* the window's edge cuts it */
    ct_string_clear(text);
}

static void put_head(const struct screen *s)
{
    struct ct_string text = {0};
    for (int i = 0; i < TOP_HEAD; i++) {
        top_line(&text, s->top, i);
        put_line(i, &text);
    }
    ct_string_printf(&text,
                     "by %s  (q: quit, s: other order, up, down, i t c a n: by that, l: by line)",
                     top_order_name(s->order));
    attron(A_DIM);
    put_line(TOP_HEAD, &text);
    attroff(A_DIM);
    attron(A_REVERSE);
    mvhline(HEAD - 1, 0, ' ', COLS);
    top_heading(&text, s->top, COLS);
    put_line(HEAD - 1, &text);
    attroff(A_REVERSE);
    ct_string_free(&text);
}

static void draw(struct screen *s)
{
    const struct top *t = s->top;
    const struct top_table *shown = &t->tables[t->shown];
    struct ct_string text = {0};
    erase();
    put_head(s);
    if (s->first >= shown->count)
        s->first = shown->count ? shown->count - 1 : 0;
    for (size_t i = s->first; i < shown->count && HEAD + (int)(i - s->first) < LINES; i++) {
        const struct top_row *r = &shown->rows[i];
        attr_t look = r->last_calls ? A_BOLD : A_NORMAL;
        attron(look);
        top_row(&text, t, r, COLS);
        put_line(HEAD + (int)(i - s->first), &text);
        attroff(look);
    }
    if (t->shown == TOP_LINES && !shown->count) {
        ct_string_put(&text, "No stacks are in the profile: cutrace --stacks python records them");
        put_line(HEAD, &text);
    }
    ct_string_free(&text);
    refresh();
}

static void set_order(struct screen *s, enum top_order order)
{
    s->order = order;
    s->first = 0;
    top_sort(s->top, order);
}

/* False: quit. */
static bool obey(struct screen *s, int key)
{
    switch (key) {
    case 'q':
        return false;
    case 's':
        set_order(s, (s->order + 1) % TOP_ORDERS);
        break;
    case 'i':
        set_order(s, TOP_INTERVAL);
        break;
    case 't':
        set_order(s, TOP_TOTAL);
        break;
    case 'c':
        set_order(s, TOP_CALLS);
        break;
    case 'a':
        set_order(s, TOP_AVG);
        break;
    case 'n':
        set_order(s, TOP_NAME);
        break;
    case 'l':
        s->top->shown = s->top->shown == TOP_LINES ? TOP_OPERATIONS : TOP_LINES;
        s->first = 0;
        break;
    case '\f':
        clearok(curscr, TRUE);
        break;
    case KEY_DOWN:
        s->first++;
        break;
    case KEY_UP:
        s->first -= s->first != 0;
        break;
    default:
        break;
    }
    return true;
}

static uint64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Deals with keys until it is time for the next table; false: quit. */
static bool wait_for_next(struct screen *s, unsigned delay_ms)
{
    uint64_t end_ms = now_ms() + delay_ms, ms;
    while ((ms = now_ms()) < end_ms) {
        timeout((int)(end_ms - ms));
        int key = getch();
        if (key == ERR)
            continue;
        if (!obey(s, key))
            return false;
        draw(s);
    }
    return true;
}

/* The terminal is looked up first, as newterm() leaks memory for one that it does not know. */
static bool is_terminal_known(const char *name)
{
    int error;
    if (setupterm(name, STDOUT_FILENO, &error) != OK)
        return false;
    del_curterm(cur_term);
    return true;
}

/* Terminals that are not described here understand one of these, nearly always. */
static bool open_terminal(void)
{
    static const char *const names[] = {NULL, "xterm-256color", "xterm", "vt100", "ansi"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (is_terminal_known(names[i]) && newterm(names[i], stdout, stdin))
            return true;
    return false;
}

/* The first answer is waited for on the screen as it was: a failure then stays visible. */
enum link_result top_screen(struct top *t, enum top_order order, unsigned delay_ms,
                            unsigned long times)
{
    struct screen s = {.top = t, .order = order};
    enum link_result result = top_take(t, order);
    if (result != LINK_ANSWERED)
        return result;
    setlocale(LC_CTYPE, "");
    if (!open_terminal()) {
        const char *name = getenv("TERM");
        complain("there is no description of the terminal '%s': use -b, or TERM=xterm-256color",
                 name ? name : "");
        return LINK_FAILED;
    }
    cbreak();
    noecho();
    curs_set(0);
    keypad(stdscr, TRUE);
    draw(&s);
    while (--times && wait_for_next(&s, delay_ms)) {
        result = top_take(t, s.order);
        if (result != LINK_ANSWERED)
            break;
        draw(&s);
    }
    endwin();
    return result;
}
