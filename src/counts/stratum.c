/* SPDX-License-Identifier: MIT */
#include "counts/stratum.h"

#include "base/root.h"

#define FEW 8       /* with fewer draws their own scatter is no good measure */
#define KNOWN_BY 30 /* with fewer timed nothing is said of how well they are known */

#define TWO_SIGMA 1.96
#define JOHNSON ((1 + 2 * TWO_SIGMA * TWO_SIGMA) / 6)

static double most(double a, double b)
{
    return a > b ? a : b;
}

static void close_draw(struct ct_stratum *t, unsigned i)
{
    if (!t->open[i].operations)
        return;
    double u = t->open[i].u, z = t->open[i].z, w = u / (double)t->open[i].operations;
    double part = 1 - 1 / w, third = part * (1 - 2 / w);
    t->draws++;
    t->uu += u * u;
    t->v += part * u * u;
    t->vy += part * u * z;
    t->vyy += part * z * z;
    t->t += third * u * u * u;
    t->ty += third * u * u * z;
    t->tyy += third * u * z * z;
    t->tyyy += third * z * z * z;
    t->open[i].operations = 0;
    t->open[i].u = t->open[i].z = 0;
}

static void draw(struct ct_stratum *t, double y, double w, uint32_t cluster)
{
    unsigned i = cluster % CT_CLUSTERS_OPEN;
    if (!cluster || cluster != t->open[i].cluster)
        close_draw(t, i);
    t->open[i].cluster = cluster;
    t->open[i].operations++;
    t->open[i].u += w;
    t->open[i].z += w * y;
    t->drawn++;
    t->drawn_y += y;
    t->w += w;
    t->wy += w * y;
    t->wyy += w * y * y;
}

void ct_stratum_add(struct ct_stratum *t, double ns, double weight, uint32_t cluster)
{
    if (!t->certain && !t->drawn)
        t->first_ns = ns;
    double y = ns - t->first_ns;
    t->most_y = most(t->most_y, y);
    t->least_y = -most(-t->least_y, -y);
    if (weight > 1) {
        draw(t, y, weight, cluster);
        return;
    }
    t->certain++;
    t->certain_y += y;
    t->certain_yy += y * y;
}

double ct_stratum_distance_ns(const struct ct_stratum *t, double ns, double weight)
{
    return t->drawn ? weight * (ns - t->first_ns - t->wy / t->w) : 0;
}

/* From all timed operations. A single one might as well have been twice as long, or nothing. */
double ct_stratum_spread_ns2(const struct ct_stratum *t)
{
    double n = (double)(t->certain + t->drawn);
    double y = t->certain_y + (t->drawn ? t->wy / t->w * (double)t->drawn : 0);
    double yy = t->certain_yy + (t->drawn ? t->wyy / t->w * (double)t->drawn : 0);
    if (n < 2)
        return t->first_ns * t->first_ns;
    return most(0, (yy - y * y / n) / (n - 1));
}

struct moments {
    double variance;
    double third;
};

/*
 * Moments of sum wy - mean * sum w. One more is taken to have been drawn, as far from the mean as
 * any that was timed: a small sample has too little of rare lengths as often as too much, and shows
 * too little scatter just when its mean is off.
 */
static struct moments moments_of(const struct ct_stratum *t, double mean)
{
    double n = (double)t->drawn, w = t->w / n, v = w * (w - 1);
    double up = t->most_y - mean, down = mean - t->least_y, far = up > down ? up : -down;
    double cube = mean * mean * mean;
    return (struct moments){
        .variance = t->vyy - 2 * mean * t->vy + mean * mean * t->v + v * far * far,
        .third = t->tyyy - 3 * mean * t->tyy + 3 * mean * mean * t->ty - cube * t->t +
                 v * (w - 2) * far * far * far,
    };
}

/* Projects the sum of all operations that were subject to drawing, less the drawn. */
static void project_drawn(const struct ct_stratum *t, double passed, struct ct_projection *e)
{
    double n = (double)t->draws, all = (double)t->drawn + passed;
    double mean = t->wy / t->w, scale = all / t->w, effective = t->w * t->w / t->uu;
    struct moments m = moments_of(t, mean);
    e->drawn_from = all;
    e->drawn = t->w;
    e->total_ns = passed * t->first_ns + all * mean - t->drawn_y;
    e->square_ns2 = passed * (t->first_ns * t->first_ns + 2 * t->first_ns * mean + t->wyy / t->w);
    e->variance_ns2 = most(0, scale * scale * m.variance * (n > 1 ? n / (n - 1) : 1));
    e->third_ns3 = scale * scale * scale * m.third;
    e->freedom_ns4 = most(1, effective - 1);
    if (t->draws < FEW) {
        e->variance_ns2 = most(e->variance_ns2, ct_stratum_spread_ns2(t) * all * passed / n);
        e->freedom_ns4 = most(1, (double)t->certain + n - 1);
    }
}

/* No operation was drawn yet: the certain ones came first, and need not be like the others. */
static void project_certain(const struct ct_stratum *t, double passed, struct ct_projection *e)
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
    if (t->drawn) {
        struct ct_stratum closed = *t;
        for (unsigned i = 0; i < CT_CLUSTERS_OPEN; i++)
            close_draw(&closed, i);
        project_drawn(&closed, (double)passed, &e);
    } else {
        project_certain(t, (double)passed, &e);
    }
    sum->operations += (double)passed * (double)each;
    sum->total_ns += most(0, e.total_ns);
    sum->square_ns2 += most(0, e.square_ns2) / (double)each;
    sum->variance_ns2 += e.variance_ns2;
    sum->drawn_from += e.drawn_from;
    sum->drawn += e.drawn;
    sum->third_ns3 += e.third_ns3;
    sum->freedom_ns4 += e.variance_ns2 * e.variance_ns2 / e.freedom_ns4;
}

/* Half of the interval for many degrees of freedom, with Johnson's correction (sampling.md). */
static double half_ns(const struct ct_projection *e)
{
    double deviation = ct_root(e->variance_ns2);
    double third = e->third_ns3 > 0 ? e->third_ns3 : -e->third_ns3;
    return TWO_SIGMA * deviation + (deviation > 0 ? JOHNSON * third / (deviation * deviation) : 0);
}

/*
 * With n timed of equal weight the half is 1.96 deviation / root(n): so many are needed. When one
 * in N / n is timed of those to come, N being all so far, the variance grows as its bound does. The
 * bound is kept at half of what is allowed; where the variance is above that, more are timed.
 */
double ct_stratum_part(const struct ct_stratum *t, uint64_t passed, double target)
{
    struct ct_projection e = {0};
    double timed = (double)(t->certain + t->drawn), all = timed + (double)passed;
    if (timed < KNOWN_BY)
        return 1;
    ct_stratum_project(t, passed, 1, &e);
    double total = timed * t->first_ns + t->certain_y + t->drawn_y + e.total_ns;
    double allowed = target * total / all;
    if (!(allowed > 0))
        return 1;
    double needed = TWO_SIGMA * TWO_SIGMA * ct_stratum_spread_ns2(t) / (allowed * allowed);
    double share = half_ns(&e) / (target * total);
    double part = needed / all * most(1, 2 * share * share);
    return timed < needed || part > 1 ? 1 : part;
}
