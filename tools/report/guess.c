/* SPDX-License-Identifier: MIT */
#include "report/guess.h"

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/suggestion.h"

#define LEAST_BEGINNING 3 /* letters that say which name they begin */
#define LEAST_PART 4      /* letters that say which name they are in */
#define MOST_OPTIONS 256
#define HELP " (try --help)"

/* ---- a word ---- */

static bool but_for_case(const char *word, const char *name)
{
    return !strcasecmp(word, name);
}

/* Two letters beside each other have changed places, the commonest mistake. */
static bool but_for_order(const char *word, const char *name)
{
    while (*word && *word == *name) {
        word++;
        name++;
    }
    return *word && *name && word[0] == name[1] && word[1] == name[0] &&
           !strcmp(word + 2, name + 2);
}

static bool begins(const char *word, const char *name)
{
    size_t len = strlen(word);
    return len >= LEAST_BEGINNING && !strncmp(word, name, len);
}

static bool is_in(const char *word, const char *name)
{
    return strlen(word) >= LEAST_PART && strstr(name, word);
}

/* The name that the word is like in one way; NULL: there are several, or none. */
static const char *only(const char *word, const char *const *names, size_t count,
                        bool (*is_like)(const char *word, const char *name))
{
    const char *found = NULL;
    for (size_t i = 0; i < count; i++) {
        if (!is_like(word, names[i]))
            continue;
        if (found && strcmp(found, names[i]) != 0)
            return NULL;
        found = names[i];
    }
    return found;
}

const char *ct_guess(const char *word, const char *const *names, size_t count)
{
    static bool (*const surest[])(const char *, const char *) = {but_for_case, but_for_order,
                                                                 begins};
    const char *found = NULL;
    for (size_t i = 0; i < sizeof(surest) / sizeof(surest[0]) && !found; i++)
        found = only(word, names, count, surest[i]);
    if (!found)
        found = ct_suggestion(word, names, count);
    return found ? found : only(word, names, count, is_in);
}

/* ---- an option ---- */

/* The name in "--name=value". */
static const char *name_in(const char *word, char room[CT_GUESS_BYTES])
{
    word += strspn(word, "-");
    snprintf(room, CT_GUESS_BYTES, "%.*s", (int)strcspn(word, "="), word);
    return room;
}

static size_t list(const struct option *options, const char *names[MOST_OPTIONS])
{
    size_t n = 0;
    while (options[n].name && n < MOST_OPTIONS) {
        names[n] = options[n].name;
        n++;
    }
    return n;
}

/* ": --these or --those" of names that the word begins; false: it begins none. */
static bool list_begun(char hint[CT_GUESS_BYTES], const char *name, const struct option *options)
{
    size_t at = 0, len = strlen(name);
    for (; options->name && len; options++)
        if (!strncmp(options->name, name, len) && at + strlen(options->name) + 8 < CT_GUESS_BYTES)
            at += (size_t)sprintf(hint + at, "%s--%s", at ? ", " : ": ", options->name);
    return at > 0;
}

const char *ct_guess_option(char hint[CT_GUESS_BYTES], const char *word,
                            const struct option *options)
{
    const char *names[MOST_OPTIONS];
    char room[CT_GUESS_BYTES];
    const char *name = name_in(word, room);
    if (list_begun(hint, name, options))
        return "ambiguous";
    const char *meant = ct_guess(name, names, list(options, names));
    snprintf(hint, CT_GUESS_BYTES, meant ? " (did you mean --%s?)" : HELP, meant);
    return "unrecognized";
}

const char *ct_guess_dash(char hint[CT_GUESS_BYTES], char *const *argv, int at, int letter,
                          const struct option *options)
{
    char room[CT_GUESS_BYTES];
    for (int i = at; i >= at - 1; i--) { /* getopt may be past the word, or in its midst */
        const char *word = argv[i];
        if (!word || word[0] != '-' || word[1] != letter || !word[2])
            continue;
        const char *name = name_in(word, room);
        for (const struct option *o = options; o->name; o++) {
            if (strcmp(o->name, name) != 0)
                continue;
            snprintf(hint, CT_GUESS_BYTES, " (did you mean --%.200s?)", name);
            return word;
        }
    }
    snprintf(hint, CT_GUESS_BYTES, HELP);
    return NULL;
}
