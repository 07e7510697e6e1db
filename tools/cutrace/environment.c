/* SPDX-License-Identifier: MIT */
#include "environment.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "messages.h"
#include "report/guess.h"
#include "role.h"

static char **made;
static size_t count;

static char *join(const char *name, const char *value)
{
    char *text;
    if (asprintf(&text, "%s=%s", name, value) < 0) {
        complain("%s", strerror(errno));
        exit(125);
    }
    return text;
}

static bool is_of(const char *entry, const char *name)
{
    size_t len = strlen(name);
    return !strncmp(entry, name, len) && entry[len] == '=';
}

/* The index of the next variable of that name from `i` on, or `count`. */
static size_t next_of(const char *name, size_t i)
{
    while (i < count && !is_of(made[i], name))
        i++;
    return i;
}

/* Leaves one variable of the name: of several, programs see the first, and the loader the last. */
static void set(const char *name, const char *value)
{
    size_t first = next_of(name, 0), kept = first + 1;
    made[first] = join(name, value);
    count += first == count;
    for (size_t i = kept; i < count; i++)
        if (!is_of(made[i], name))
            made[kept++] = made[i];
    count = kept;
}

/* The value that a program sees. */
static const char *value_of(const char *name)
{
    size_t i = next_of(name, 0);
    return i < count ? made[i] + strlen(name) + 1 : NULL;
}

/* The value that the loader sees. */
static const char *last_value_of(const char *name)
{
    const char *value = NULL;
    for (size_t i = 0; (i = next_of(name, i)) < count; i++)
        value = made[i] + strlen(name) + 1;
    return value;
}

/* Entries are whole: the library's path may be a part of another one's. */
static bool lists(const char *list, const char *library)
{
    size_t len = strlen(library);
    for (list += strspn(list, ": "); *list; list += strspn(list, ": ")) {
        size_t entry = strcspn(list, ": ");
        if (entry == len && !strncmp(list, library, len))
            return true;
        list += entry;
    }
    return false;
}

/*
 * The library comes behind those that are there already: a sanitizer's runtime has to be first, and
 * calls that a library before ours takes still come by here. Not twice, where one launcher runs in
 * another.
 */
static void set_preload(const char *library)
{
    const char *before = last_value_of("LD_PRELOAD");
    if (!before || !*before) {
        set("LD_PRELOAD", library);
    } else if (!lists(before, library)) {
        char *both = join(before, library);
        both[strlen(before)] = ':';
        set("LD_PRELOAD", both);
    }
}

/* An option wins over its variable in the environment. */
static void set_given(const struct options *o)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        const struct option_row *r = &option_rows[i];
        const char *value = o->value[i];
        if (value && r->variable)
            set(r->variable, *value ? value : r->standard);
    }
}

/* A percent sign of the working directory is none of the pattern's. */
static char *add_escaped(char *to, const char *from)
{
    for (; *from; from++) {
        *to++ = *from;
        if (*from == '%')
            *to++ = '%';
    }
    *to = '\0';
    return to;
}

/* A file is where the launcher was started, wherever processes go before they start CUDA. */
static void make_absolute(enum option_id id, const char *name)
{
    char cwd[PATH_MAX], path[3 * PATH_MAX];
    if (*name == '/' || strlen(name) >= PATH_MAX || !getcwd(cwd, sizeof(cwd)) || *cwd != '/')
        return;
    char *end = add_escaped(path, cwd);
    snprintf(end, PATH_MAX, "%s%s", cwd[1] ? "/" : "", name);
    set(option_rows[id].variable, path);
}

static void set_output(void)
{
    const char *name = value_of("CUTRACE_OUTPUT");
    make_absolute(OPTION_OUTPUT, name && *name ? name : option_rows[OPTION_OUTPUT].standard);
}

const char *environment_output(void)
{
    return value_of("CUTRACE_OUTPUT");
}

/* A trace to be printed has to be written: beside the profile, unless another place is given. */
static void set_trace(const struct options *o)
{
    const char *name = value_of("CUTRACE_TRACE");
    bool none = !name || !*name || !strcmp(name, "off") || !strcmp(name, "0");
    if (none && options_wants_trace(o))
        set("CUTRACE_TRACE", "1");
    else if (!none && strcmp(name, "1") != 0 && strcmp(name, "on") != 0)
        make_absolute(OPTION_TRACE, name);
}

/* Said of all that the launcher looks at: the part that tells them apart is compared. */
#define PREFIX "CUTRACE_"
#define PREFIX_LETTERS (sizeof(PREFIX) - 1)

/* A misspelt variable would be without effect. */
static void complain_unknown(const char *entry)
{
    const char *names[OPTION_COUNT];
    size_t known = 0, len = strcspn(entry, "=");
    char name[64];
    for (int i = 0; i < OPTION_COUNT; i++)
        if (option_rows[i].variable)
            names[known++] = option_rows[i].variable + PREFIX_LETTERS;
    snprintf(name, sizeof(name), "%.*s", (int)len, entry);
    for (size_t i = 0; i < known; i++)
        if (!strcmp(names[i], name + PREFIX_LETTERS))
            return;
    const char *meant = ct_guess(name + PREFIX_LETTERS, names, known);
    complain("%s is no variable of cutrace%s%s%s", name,
             meant ? " (did you mean " PREFIX : " (cutrace --help has them", meant ? meant : "",
             meant ? "?)" : ")");
}

static void look_for_unknown(void)
{
    for (size_t i = 0; i < count; i++)
        if (!strncmp(made[i], PREFIX, PREFIX_LETTERS) && role_speaks())
            complain_unknown(made[i]);
}

char **environment_make(const struct options *o, const char *library, const char *list)
{
    extern char **environ;
    size_t inherited = 0;
    while (environ[inherited])
        inherited++;
    made = calloc(inherited + OPTION_COUNT + 8, sizeof(*made));
    if (!made) {
        complain("%s", strerror(errno));
        exit(125);
    }
    memcpy(made, environ, inherited * sizeof(*made));
    count = inherited;
    look_for_unknown();
    set_preload(library);
    /* Off where the launcher prints the table; not where it has no list of the profiles. */
    set("CUTRACE_PRINT", list && role_speaks() ? "off" : "on");
    set("CUTRACE_RUN", list ? list : "none");
    if (options_has(o, OPTION_QUIET))
        set("CUTRACE_LOG", "0");
    if (options_has(o, OPTION_OVERWRITE))
        set("CUTRACE_FORCE", "1");
    set_given(o);
    set_output();
    set_trace(o);
    return made;
}
