/* SPDX-License-Identifier: MIT */
#include "record/stratum.h"

#define FEW 8 /* drawn: the scatter among themselves is no good measure */

void ct_stratum_add(struct ct_stratum *t, double ns, uint32_t weight)
{
    double w = weight, v = w * (w - 1), third = v * (w - 2);
    if (!t->certain && !t->drawn)
        t->first_ns = ns;
    double y = ns - t->first_ns;
    if (weight <= 1) {
        t->certain++;
        t->certain_y += y;
        t->certain_yy += y * y;
        return;
    }
    t->drawn++;
    t->drawn_y += y;
    t->w += w;
    t->wy += w * y;
    t->wyy += w * y * y;
    t->v += v;
    t->vy += v * y;
    t->vyy += v * y * y;
    t->t += third;
    t->ty += third * y;
    t->tyy += third * y * y;
    t->tyyy += third * y * y * y;
}

static double most(double a, double b)
{
    return a > b ? a : b;
}

/* Of all that were timed. A single one might as well have been twice as long, or nothing. */
double ct_stratum_spread_ns2(const struct ct_stratum *t)
{
    double n = (double)(t->certain + t->drawn);
    double y = t->certain_y + (t->drawn ? t->wy / t->w * (double)t->drawn : 0);
    double yy = t->certain_yy + (t->drawn ? t->wyy / t->w * (double)t->drawn : 0);
    if (n < 2)
        return t->first_ns * t->first_ns;
    return most(0, (yy - y * y / n) / (n - 1));
}

/* Of the sum of all that were subject to drawing, less the drawn. */
static void estimate_drawn(const struct ct_stratum *t, double passed, struct ct_projection *e)
{
    double n = (double)t->drawn, all = n + passed, mean = t->wy / t->w, scale = all / t->w;
    double effective = t->w * t->w / (t->v + t->w);
    double scatter = t->vyy - 2 * mean * t->vy + mean * mean * t->v;
    double third =
        t->tyyy - 3 * mean * t->tyy + 3 * mean * mean * t->ty - mean * mean * mean * t->t;
    e->total_ns = passed * t->first_ns + all * mean - t->drawn_y;
    e->square_ns2 = t->first_ns * t->first_ns + 2 * t->first_ns * mean + t->wyy / t->w;
    e->square_ns2 *= passed;
    e->third_ns3 = scale * scale * scale * third;
    if (t->drawn >= FEW) {
        e->variance_ns2 = most(0, scale * scale * scatter * n / (n - 1));
        e->freedom_ns4 = most(1, effective - 1);
    } else {
        double spread = ct_stratum_spread_ns2(t) * all * passed / n;
        e->variance_ns2 = most(spread, n > 1 ? scale * scale * scatter * n / (n - 1) : 0);
        e->freedom_ns4 = most(1, (double)t->certain + n - 1);
    }
}

/* None was drawn yet: those that were certain came first, and need not be like the others. */
static void estimate_certain(const struct ct_stratum *t, double passed, struct ct_projection *e)
{
    double n = (double)t->certain, mean = t->certain_y / n;
    e->total_ns = passed * (t->first_ns + mean);
    e->square_ns2 =
        passed * (t->first_ns * t->first_ns + 2 * t->first_ns * mean + t->certain_yy / n);
    e->variance_ns2 = passed * passed * ct_stratum_spread_ns2(t);
    e->freedom_ns4 = most(1, n - 1);
}

void ct_stratum_project(const struct ct_stratum *t, uint64_t passed, uint64_t each,
                        struct ct_projection *sum)
{
    struct ct_projection e = {0};
    if (!passed || (!t->certain && !t->drawn))
        return;
    if (t->drawn)
        estimate_drawn(t, (double)passed, &e);
    else
        estimate_certain(t, (double)passed, &e);
    sum->operations += (double)passed * (double)each;
    sum->total_ns += most(0, e.total_ns);
    sum->square_ns2 += most(0, e.square_ns2) / (double)each;
    sum->variance_ns2 += e.variance_ns2;
    sum->third_ns3 += e.third_ns3;
    sum->freedom_ns4 += e.variance_ns2 * e.variance_ns2 / e.freedom_ns4;
}
