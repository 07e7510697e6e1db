/* SPDX-License-Identifier: MIT */
/* The word that somebody may have meant who mistyped it. */
#ifndef CT_SUGGESTION_H
#define CT_SUGGESTION_H

#include <stddef.h>

/* The name that differs least from the word, in a third of its letters and two at most; or NULL. */
const char *ct_suggestion(const char *word, const char *const *names, size_t count);

#endif
