/* SPDX-License-Identifier: MIT */
/* The word that somebody meant who mistyped it: of both tools' command lines. */
#ifndef CT_REPORT_GUESS_H
#define CT_REPORT_GUESS_H

#include <stddef.h>

struct option;

/* The likeliest of the names, or NULL: none is near. */
const char *ct_guess(const char *word, const char *const *names, size_t count);

enum { CT_GUESS_BYTES = 256 };

/*
 * Why getopt takes no long option of such a word: "unrecognized" or "ambiguous". `hint` gets the
 * text to be put behind it, with the names that may have been meant.
 */
const char *ct_guess_option(char hint[CT_GUESS_BYTES], const char *word,
                            const struct option *options);

/*
 * The word for which getopt complains of a letter, if it is a long option behind one dash: nothing
 * else begins so. Else NULL. `hint` as above.
 */
const char *ct_guess_dash(char hint[CT_GUESS_BYTES], char *const *argv, int at, int letter,
                          const struct option *options);

#endif
