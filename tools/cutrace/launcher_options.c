/* SPDX-License-Identifier: MIT */
#include "launcher_options.h"

#include <errno.h>
#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "config.h"
#include "launcher_help.h"
#include "messages.h"
#include "options/setting.h"
#include "report/guess.h"

#define FIRST_CODE 256 /* above all letters */

const struct option_row option_rows[OPTION_COUNT] = {
#define CT_OPTION(who, id, variable, option, letter, argument, standard, help)                     \
    {FOR_##who, variable, option, letter, argument, standard, help},
#include "options/options.def"
};

/* Options that nvprof alone has, but for values that ask for nothing. */
static const struct refusal {
    const char *name;
    char letter;
    const char *argument;
    const char *values; /* that are taken; "*": any; NULL: none */
    const char *instead;
} refusals[] = {
#define CT_OPTION(...)
#define CT_NEVER(option, letter, argument, instead) {option, letter, argument, NULL, instead},
#define CT_VOID(option, argument, values, instead) {option, 0, argument, values, instead},
#include "options/options.def"
};

#define REFUSALS (sizeof(refusals) / sizeof(refusals[0]))

struct getopt_tables {
    struct option longs[OPTION_COUNT + REFUSALS + 1];
    char letters[3 * (OPTION_COUNT + REFUSALS) + 3];
};

static void add_letter(char **to, char letter, const char *argument)
{
    if (letter)
        *to += sprintf(*to, "%c%s", letter, argument ? ":" : "");
}

static int has_argument(const char *argument)
{
    if (!argument)
        return no_argument;
    return *argument == '[' ? optional_argument : required_argument;
}

/* The launcher's options or those of `cutrace ctl`: some letters mean something else there. */
static bool for_ctl;

static bool is_option(const struct option_row *r)
{
    return r->name && (r->who == FOR_CTL) == for_ctl;
}

/* The plus: arguments behind the program's name are the program's. The colon: see refuse(). */
static void fill(struct getopt_tables *t)
{
    char *letters = t->letters;
    struct option *longs = t->longs;
    letters += sprintf(letters, for_ctl ? ":" : "+:");
    for (int i = 0; i < OPTION_COUNT; i++) {
        const struct option_row *r = &option_rows[i];
        if (!is_option(r))
            continue;
        *longs++ = (struct option){r->name, has_argument(r->argument), NULL, FIRST_CODE + i};
        add_letter(&letters, r->letter, r->argument);
    }
    for (size_t i = 0; i < REFUSALS && !for_ctl; i++) {
        const struct refusal *r = &refusals[i];
        int code = FIRST_CODE + OPTION_COUNT + (int)i;
        int kind = r->values ? required_argument : optional_argument;
        *longs++ = (struct option){r->name, r->argument ? kind : no_argument, NULL, code};
        add_letter(&letters, r->letter, NULL);
    }
    *longs = (struct option){0};
}

static int row_of(int code)
{
    for (int i = 0; i < OPTION_COUNT; i++)
        if (is_option(&option_rows[i]) &&
            (code == FIRST_CODE + i || (option_rows[i].letter && code == option_rows[i].letter)))
            return i;
    return -1;
}

static const struct refusal *refusal_of(int code)
{
    for (size_t i = 0; i < REFUSALS && !for_ctl; i++)
        if (code == FIRST_CODE + OPTION_COUNT + (int)i ||
            (refusals[i].letter && code == refusals[i].letter))
            return &refusals[i];
    return NULL;
}

/* ---- values ---- */

static bool is_choice(const char *choices, const char *value)
{
    size_t len = strlen(value);
    for (;;) {
        size_t n = strcspn(choices, "|");
        if (n == len && !strncmp(choices, value, n))
            return true;
        choices += n;
        if (*choices != '|')
            return false;
        choices++;
    }
}

/* A decimal number above 0. */
static bool is_time(const char *value)
{
    char *end;
    return strspn(value, "0123456789.") == strlen(value) && strtod(value, &end) > 0 && !*end;
}

/* A value for the library has to be one that the library takes. */
static bool is_possible(const struct option_row *r, const char *value)
{
    for (int i = 0; r->variable && i < CT_SETTINGS; i++)
        if (!strcmp(ct_settings[i].name, r->variable))
            return ct_settings[i].set(value);
    if (strchr(r->argument, '|'))
        return is_choice(r->argument, value);
    return strcmp(r->argument, "SECONDS") ? *value != '\0' : is_time(value);
}

/* "on, off or N" of "on|off|N". */
static const char *spell_choices(const char *choices)
{
    static char text[128];
    size_t at = 0;
    for (; *choices && at + 8 < sizeof(text); choices++)
        if (*choices != '|')
            text[at++] = *choices;
        else
            at += (size_t)sprintf(text + at, strchr(choices + 1, '|') ? ", " : " or ");
    text[at] = '\0';
    return text;
}

/* The possible values in words, by the option's name or its argument's. */
static const char *form_of(const struct option_row *r)
{
    static const char *const forms[][2] = {
        {"kernels", "parts of names or patterns, with commas between"},
        {"events-in-use", "a whole number from 64 on"},
        {"watchdog", "such as 10x, 30s or 10x,30s"},
        {"N", "a whole number from 1 on"},
        {"PERCENT", "such as 2% or 0.5%"},
        {"SECONDS", "a number such as 10"},
        {"BYTES", "such as 64M or 1G, at least 4M"},
        {"LIST", "numbers with commas between"},
        {"RANGE@DOMAIN", "the name of a range, or name@domain"},
        {"FILE", "the name of a file"},
    };
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
        if (!strcmp(forms[i][0], r->name) || !strcmp(forms[i][0], r->argument))
            return forms[i][1];
    return spell_choices(r->argument);
}

/* ---- parsing ---- */

/* The name in nvprof's CONTEXT:STREAM:NAME:INVOCATION; NULL: the value chooses by more. */
static const char *kernel_of(const char *value)
{
    size_t context = strspn(value, "0123456789*"), name = 0;
    if (value[context] != ':')
        return value;
    size_t stream = strspn(value + context + 1, "0123456789*");
    const char *rest = value + context + 1 + stream;
    if (*rest != ':')
        return value;
    name = strlen(++rest);
    while (name && rest[name - 1] != ':')
        name--;
    bool all = strspn(value, "*:") >= (size_t)(rest - value) && (!name || !rest[name]);
    return all ? strndup(rest, name ? name - 1 : strlen(rest)) : NULL;
}

static enum options_result take(struct options *o, int id, const char *value)
{
    const struct option_row *r = &option_rows[id];
    if (id == OPTION_KERNELS && value && !(value = kernel_of(value))) {
        complain("--kernels chooses by name alone here, not by context, stream or invocation");
        return OPTIONS_WRONG;
    }
    if (value && !is_possible(r, value)) {
        complain("'%s' is no value of --%s: %s", value, r->name, form_of(r));
        return OPTIONS_WRONG;
    }
    o->value[id] = value ? value : "";
    if (id == OPTION_HELP)
        help_print();
    else if (id == OPTION_CTL_HELP)
        help_print_ctl();
    else if (id == OPTION_VERSION)
        puts("cutrace " PACKAGE_VERSION);
    else
        return OPTIONS_RUN;
    return OPTIONS_DONE;
}

/*
 * nsys has `-f true`: the word is the option's value if another word is behind it; else a program
 * may be called true or false. Moves *at past the value.
 */
static void take_switch(struct options *o, int id, char **argv, int *at)
{
    const char *word = argv[*at];
    if (id != OPTION_OVERWRITE || !word || !argv[*at + 1])
        return;
    bool off = !strcmp(word, "false");
    if (!off && strcmp(word, "true"))
        return;
    o->value[id] = off ? NULL : "";
    ++*at;
}

/* False: the argument is not -f's long form with =true or =false. */
static bool take_switch_value(struct options *o, const char *argument)
{
    const char *value = strchr(argument, '=');
    if (row_of(optopt) != OPTION_OVERWRITE || !value ||
        (strcmp(value, "=true") && strcmp(value, "=false")))
        return false;
    o->value[OPTION_OVERWRITE] = strcmp(value, "=true") ? NULL : "";
    return true;
}

/* False: the option is none of nvprof's, or its value asks for something that is not here. */
static bool take_void(struct options *o, const struct refusal *r, const char *value)
{
    bool any = r && r->values && !strcmp(r->values, "*");
    if (!r || !r->values || (!any && !(value && is_choice(r->values, value))))
        return false;
    bool no_calls = !strcmp(r->name, "profile-api-trace") && !strcmp(value, "none");
    if (no_calls && !o->value[OPTION_ACTIVITIES])
        o->value[OPTION_ACTIVITIES] = "gpu,memory";
    return true;
}

/* getopt's complaint about a word or a letter that it does not know. */
static void refuse_unknown(const struct getopt_tables *t, char **argv)
{
    char hint[CT_GUESS_BYTES];
    const char *word = argv[optind - 1], *why = "unrecognized";
    if (optopt)
        word = ct_guess_dash(hint, argv, optind, optopt, t->longs);
    else
        why = ct_guess_option(hint, word, t->longs);
    if (word)
        complain("%s option '%s'%s", why, word, hint);
    else
        complain("invalid option -- '%c'%s", optopt, hint);
}

static enum options_result refuse(const struct getopt_tables *t, int code, char **argv)
{
    const struct refusal *r = refusal_of(code == '?' ? optopt : code);
    int id = row_of(optopt);
    const struct refusal *taken = code == ':' ? refusal_of(optopt) : NULL;
    if (r && optarg && r->values)
        complain("there is no --%s=%s here: %s", r->name, optarg, r->instead);
    else if (r)
        complain("there is no --%s here: %s", r->name, r->instead);
    else if (code == ':')
        complain("option '--%s' requires an argument (try --help)", id >= 0 ? option_rows[id].name
                                                                    : taken ? taken->name
                                                                            : "?");
    else if (id >= 0)
        complain("option '--%s' takes no argument (try --help)", option_rows[id].name);
    else
        refuse_unknown(t, argv);
    return OPTIONS_WRONG;
}

/* The report refuses such pairs, too, but only when the program has ended. */
static const char *excluded_pair(const struct options *o)
{
    const char *demangling = o->value[OPTION_DEMANGLING];
    if (options_wants_trace(o) &&
        (options_has(o, OPTION_SUMMARY) || options_has(o, OPTION_PER_GPU) ||
         options_has(o, OPTION_GPU_SUMMARY) || options_has(o, OPTION_API_SUMMARY)))
        return "use either the print summary options or the print trace options";
    if (options_wants_trace(o) && (options_has(o, OPTION_RAW) || options_has(o, OPTION_DETAILS)))
        return "--raw and --details are of the summary, which the print trace options replace";
    if (options_has(o, OPTION_CSV) && options_has(o, OPTION_DETAILS))
        return "--csv and --details exclude each other";
    if (options_has(o, OPTION_GROUP) && demangling && !strcmp(demangling, "off"))
        return "--group has names of its own: it does not go with --demangling off";
    return NULL;
}

/* An option about a program, where none is run; NULL: there is none. */
static const char *idle_option(const struct options *o)
{
    for (int i = 0; i < OPTION_COUNT && options_has(o, OPTION_IMPORT); i++) {
        bool printing = option_rows[i].who == FOR_REPORT || i == OPTION_IMPORT ||
                        i == OPTION_LOG_FILE || i == OPTION_GPU_TRACE || i == OPTION_API_TRACE;
        if (options_has(o, (enum option_id)i) && !printing)
            return option_rows[i].name;
    }
    return NULL;
}

static enum options_result check(const struct options *o)
{
    const char *excluded = excluded_pair(o), *idle = idle_option(o);
    if (options_has(o, OPTION_IMPORT) == (*o->command != NULL)) {
        complain(*o->command ? "-i runs no program, but '%s' is given"
                             : "no program is given (try --help)",
                 *o->command);
        return OPTIONS_WRONG;
    }
    if (idle) {
        complain("-i runs no program, and --%s would change nothing", idle);
        return OPTIONS_WRONG;
    }
    if (excluded) {
        complain("%s", excluded);
        return OPTIONS_WRONG;
    }
    return OPTIONS_RUN;
}

static enum options_result parse(struct options *o, int argc, char **argv)
{
    struct getopt_tables t;
    fill(&t);
    *o = (struct options){0};
    opterr = 0;
    for (int code; (code = getopt_long(argc, argv, t.letters, t.longs, NULL)) != -1;) {
        int id = row_of(code);
        if (code == '?' && optopt >= FIRST_CODE && take_switch_value(o, argv[optind - 1]))
            continue;
        if (id < 0 && take_void(o, refusal_of(code), optarg))
            continue;
        enum options_result result = id < 0 ? refuse(&t, code, argv) : take(o, id, optarg);
        if (result != OPTIONS_RUN)
            return result;
        take_switch(o, id, argv, &optind);
    }
    o->command = argv + optind;
    return OPTIONS_RUN;
}

/* A script is an argument of its interpreter, which takes the place of the word in front of it. */
static void add_interpreter(struct options *o)
{
    const char *name = *o->command, *python = o->value[OPTION_PYTHON];
    size_t len = name ? strlen(name) : 0;
    if (len > 3 && !strcmp(name + len - 3, ".py") && !access(name, R_OK) &&
        (python || access(name, X_OK)))
        *--o->command = (char *)(uintptr_t)(python ? python : "python3");
}

enum options_result options_parse(struct options *o, int argc, char **argv)
{
    enum options_result result = parse(o, argc, argv);
    if (result == OPTIONS_RUN)
        add_interpreter(o);
    return result == OPTIONS_RUN ? check(o) : result;
}

enum options_result options_parse_ctl(struct options *o, int argc, char **argv)
{
    for_ctl = true;
    return parse(o, argc, argv);
}

unsigned options_delay_ms(const struct options *o)
{
    const char *delay = o->value[OPTION_CTL_DELAY];
    double seconds = delay ? strtod(delay, NULL) : 1;
    if (seconds > 86400)
        return 86400000;
    return seconds < 0.05 ? 50 : (unsigned)(seconds * 1e3);
}

void options_pause_ms(unsigned ms)
{
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
    while (nanosleep(&t, &t) && errno == EINTR)
        ;
}
