/* SPDX-License-Identifier: MIT */
#include "report/profile/stats.h"

#include <math.h>
#include <stdlib.h>

#include "base/hist.h"
#include "report/profile/interval.h"

#define TERMS 500
#define TINY 1e-300

/* ---- distributions ---- */

/* Lentz's way to the continued fraction of the incomplete beta function. */
static double beta_fraction(double x, double a, double b)
{
    double c = 1, d = 1 - (a + b) * x / (a + 1), f;
    d = 1 / (fabs(d) < TINY ? TINY : d);
    f = d;
    for (int m = 1; m < TERMS; m++) {
        double terms[] = {m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                          -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))};
        double before = f;
        for (int i = 0; i < 2; i++) {
            d = 1 + terms[i] * d;
            c = 1 + terms[i] / c;
            d = 1 / (fabs(d) < TINY ? TINY : d);
            c = fabs(c) < TINY ? TINY : c;
            f *= c * d;
        }
        if (fabs(f - before) <= 1e-14 * fabs(f))
            break;
    }
    return f;
}

/* The regularised incomplete beta function, from the side where the fraction is quick. */
static double beta(double x, double a, double b)
{
    if (x <= 0 || x >= 1)
        return x <= 0 ? 0 : 1;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2))
        return front * beta_fraction(x, a, b) / a;
    return 1 - front * beta_fraction(1 - x, b, a) / b;
}

double ct_stats_normal(double z)
{
    return erfc(fabs(z) / sqrt(2));
}

/* The two distributions agree from a million degrees on, where the fraction would take long. */
double ct_stats_student(double t, double freedom)
{
    if (isinf(t) || freedom > 1e6)
        return ct_stats_normal(t);
    return beta(freedom / (freedom + t * t), freedom / 2, 0.5);
}

/* ---- means ---- */

/* Variance of the difference; its degrees of freedom by Welch and Satterthwaite. */
static double variance_of(const struct ct_stats_value *a, const struct ct_stats_value *b,
                          double *freedom)
{
    double sum = a->variance + b->variance;
    double parts = a->variance * a->variance / a->freedom + b->variance * b->variance / b->freedom;
    *freedom = parts > 0 ? sum * sum / parts : INFINITY;
    return sum;
}

double ct_stats_welch(const struct ct_stats_value *a, const struct ct_stats_value *b)
{
    double freedom, beyond = fabs(b->value - a->value) - a->doubt - b->doubt;
    if (!(a->freedom > 0) || !(b->freedom > 0))
        return NAN;
    double variance = variance_of(a, b, &freedom);
    if (!(beyond > 0))
        return 1;
    return variance > 0 ? ct_stats_student(beyond / sqrt(variance), freedom) : 0;
}

double ct_stats_half(const struct ct_stats_value *a, const struct ct_stats_value *b)
{
    double freedom;
    if (!(a->freedom > 0) || !(b->freedom > 0))
        return NAN;
    double variance = variance_of(a, b, &freedom);
    return a->doubt + b->doubt + sqrt(variance) * ct_interval_student(freedom);
}

/* ---- ranks ---- */

static double sum_of(const struct ct_merged_hist *h)
{
    double sum = 0;
    for (size_t i = 0; i < h->count; i++)
        sum += (double)h->buckets[i].count;
    return sum;
}

/* One of the two histograms on the way through its buckets. */
struct walk {
    const struct ct_merged_hist *h;
    size_t at;
    double shift;
    double scale; /* to the number of values that were measured */
    double passed;
};

static double place(const struct walk *w)
{
    if (w->at == w->h->count)
        return INFINITY;
    return (double)ct_hist_middle((uint32_t)w->h->buckets[w->at].bucket) + w->shift;
}

/* The number of values at exactly this place; the walk goes past them. */
static double take(struct walk *w, double at)
{
    double count = 0;
    for (; place(w) == at && w->at < w->h->count; w->at++)
        count += (double)w->h->buckets[w->at].count * w->scale;
    return count;
}

/* How many pairs have the one of b behind, ties half; sum of the cubes of ties less their size. */
static double pairs(struct walk a, struct walk b, double *ties)
{
    double u = 0, passed = 0;
    *ties = 0;
    while (a.at < a.h->count || b.at < b.h->count) {
        double at = fmin(place(&a), place(&b));
        double in_a = take(&a, at), in_b = take(&b, at), both = in_a + in_b;
        u += in_b * (passed + in_a / 2);
        passed += in_a;
        *ties += both * both * both - both;
    }
    return u;
}

struct ct_ranks_test ct_stats_ranks(const struct ct_merged_hist *a, double n_a,
                                    const struct ct_merged_hist *b, double n_b, double doubt)
{
    double in_a = sum_of(a), in_b = sum_of(b), ties;
    if (!(in_a > 0) || !(in_b > 0))
        return (struct ct_ranks_test){NAN, 0.5};
    struct walk x = {.h = a, .scale = n_a / in_a}, y = {.h = b, .scale = n_b / in_b};
    double all = n_a * n_b, n = n_a + n_b, u = pairs(x, y, &ties);
    struct ct_ranks_test test = {1, u / all};
    bool longer = u > all / 2;
    y.shift = longer ? -doubt : doubt;
    u = pairs(x, y, &ties);
    double variance = all / 12 * (n + 1 - ties / (n * (n - 1)));
    if ((u > all / 2) == longer && variance > 0)
        test.p = ct_stats_normal((u - all / 2) / sqrt(variance));
    return test;
}

/* ---- many tests ---- */

static int by_value(const void *a, const void *b)
{
    double x = **(double *const *)a, y = **(double *const *)b;
    return (x > y) - (x < y);
}

void ct_stats_holm(double *p, size_t count)
{
    size_t tests = 0;
    double **order = ct_memory_array(count, sizeof(*order)), least = 0;
    for (size_t i = 0; i < count; i++)
        if (!isnan(p[i]))
            order[tests++] = &p[i];
    qsort(order, tests, sizeof(*order), by_value);
    for (size_t i = 0; i < tests; i++) {
        double corrected = fmin(1, *order[i] * (double)(tests - i));
        least = fmax(least, corrected);
        *order[i] = least;
    }
    free(order);
}
