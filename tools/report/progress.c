/* SPDX-License-Identifier: MIT */
#include "report/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "report/units.h"

#define SECOND_NS ((uint64_t)1000000000)
#define FIRST_NS SECOND_NS /* faster work shows nothing */
#define STEP_NS (SECOND_NS / 10)
#define LINE_BYTES 256
#define BAR_MOST 40

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * SECOND_NS + (uint64_t)t.tv_nsec;
}

static bool is_terminal(int fd)
{
    const char *term = getenv("TERM");
    return isatty(fd) && term && *term && strcmp(term, "dumb") != 0;
}

void ct_progress_start(struct ct_progress *p, const char *what, const char *unit, uint64_t total)
{
    memset(p, 0, sizeof(*p));
    pthread_mutex_init(&p->lock, NULL);
    p->fd = is_terminal(STDERR_FILENO) ? STDERR_FILENO : -1;
    p->what = what;
    p->unit = unit;
    p->total = total;
    p->begin_ns = now();
    p->next_ns = p->begin_ns + FIRST_NS;
}

/* Columns that may be filled; the last one would make some terminals go to the next line. */
static int columns(int fd)
{
    struct winsize size;
    int width = ioctl(fd, TIOCGWINSZ, &size) || !size.ws_col ? 80 : size.ws_col;
    return width < LINE_BYTES ? width - 1 : LINE_BYTES - 1;
}

static void put_amount(char *text, const struct ct_progress *p, uint64_t done)
{
    char have[CT_UNITS_BYTES], all[CT_UNITS_BYTES];
    if (strcmp(p->unit, "bytes")) {
        snprintf(text, LINE_BYTES, "%llu of %llu %s", (unsigned long long)done,
                 (unsigned long long)p->total, p->unit);
        return;
    }
    ct_units_size(have, done);
    ct_units_size(all, p->total);
    snprintf(text, LINE_BYTES, "%s of %s", have, all);
}

static void put_rest(char *text, const struct ct_progress *p, double share, uint64_t now_ns)
{
    double seconds = (double)(now_ns - p->begin_ns) / 1e9;
    double rest = share > 0 ? seconds / share - seconds : 0;
    text[0] = '\0';
    if (share >= 0.02 && rest < 1e6)
        snprintf(text, LINE_BYTES, ", %.0f s left", rest);
}

static void put_bar(char *bar, int width, double share)
{
    int full = (int)(width * share + 0.5);
    for (int i = 0; i < width; i++)
        bar[i] = i < full ? '#' : '.';
    bar[width < 0 ? 0 : width] = '\0';
}

/* The text comes first: on a narrow terminal the bar goes, then the rest of the line. */
static void draw(struct ct_progress *p, uint64_t now_ns)
{
    uint64_t done = p->done > p->total ? p->total : p->done;
    double share = p->total ? (double)done / (double)p->total : 0;
    char amount[LINE_BYTES], rest[LINE_BYTES], text[LINE_BYTES], bar[BAR_MOST + 1];
    put_amount(amount, p, done);
    put_rest(rest, p, share, now_ns);
    int len = snprintf(text, sizeof(text), "%s %3.0f%%  %s%s", p->what, 100 * share, amount, rest);
    int width = columns(p->fd), room = width - len - 4;
    put_bar(bar, room < 8 ? 0 : room < BAR_MOST ? room : BAR_MOST, share);
    if (bar[0])
        dprintf(p->fd, "\r\033[K%s  [%s]", text, bar);
    else
        dprintf(p->fd, "\r\033[K%.*s", width, text);
    p->drawn = true;
}

/* Whoever finds the line being drawn by another thread goes on. */
void ct_progress_add_at(struct ct_progress *p, uint64_t more, uint64_t now_ns)
{
    p->done += more;
    if (now_ns < p->next_ns || pthread_mutex_trylock(&p->lock))
        return;
    p->next_ns = now_ns + STEP_NS;
    draw(p, now_ns);
    pthread_mutex_unlock(&p->lock);
}

void ct_progress_add(struct ct_progress *p, uint64_t more)
{
    if (p->fd >= 0)
        ct_progress_add_at(p, more, now());
}

void ct_progress_hide(struct ct_progress *p)
{
    pthread_mutex_lock(&p->lock);
    if (p->drawn)
        dprintf(p->fd, "\r\033[K");
    p->drawn = false;
    pthread_mutex_unlock(&p->lock);
}

void ct_progress_end(struct ct_progress *p)
{
    ct_progress_hide(p);
    pthread_mutex_destroy(&p->lock);
}
