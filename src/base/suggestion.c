/* SPDX-License-Identifier: MIT */
#include "base/suggestion.h"

#include "base/text.h"

#define MOST_LETTERS 63 /* of a word that is compared with names */
#define MOST_WRONG 2    /* of its letters, or a third, for it to be a name that was mistyped */

static unsigned least(unsigned a, unsigned b, unsigned c)
{
    return a < b ? (a < c ? a : c) : (b < c ? b : c);
}

/* Letters to be put in, left out or exchanged (Levenshtein). */
static unsigned distance(const char *a, const char *b)
{
    size_t len = ct_strlen(b);
    unsigned row[MOST_LETTERS + 1];
    if (len > MOST_LETTERS || ct_strlen(a) > MOST_LETTERS)
        return MOST_LETTERS;
    for (unsigned j = 0; j <= len; j++)
        row[j] = j;
    for (unsigned i = 1; a[i - 1]; i++) {
        unsigned above_left = row[0];
        row[0] = i;
        for (size_t j = 1; j <= len; j++) {
            unsigned above = row[j];
            row[j] = least(above + 1, row[j - 1] + 1, above_left + (a[i - 1] != b[j - 1]));
            above_left = above;
        }
    }
    return row[len];
}

const char *ct_suggestion(const char *word, const char *const *names, size_t count)
{
    const char *best = NULL;
    size_t third = ct_strlen(word) / 3, wrong = (third < MOST_WRONG ? third : MOST_WRONG) + 1;
    for (size_t i = 0; i < count; i++) {
        unsigned d = distance(word, names[i]);
        if (d < wrong) {
            wrong = d;
            best = names[i];
        }
    }
    return best;
}
