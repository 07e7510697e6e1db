/* SPDX-License-Identifier: MIT */
/*
 * A headless Chromium that shows one page, spoken to by the DevTools protocol over a pipe. What
 * the page does wrong is collected: errors on its console, and each request it makes.
 */
#ifndef CT_TEST_BROWSER_H
#define CT_TEST_BROWSER_H

#include <jansson.h>
#include <stdbool.h>

struct ct_browser;

/* The program, or NULL where there is none. */
const char *ct_browser_program(void);

/* NULL: it did not start. */
struct ct_browser *ct_browser_start(int width, int height);
void ct_browser_stop(struct ct_browser *b);

/* Opens a file, and waits until its scripts have run. */
bool ct_browser_open(struct ct_browser *b, const char *path);

/* Evaluates JavaScript, promises awaited; the text of the result, with plain blanks, which lasts
 * until the next. */
const char *ct_browser_eval(struct ct_browser *b, const char *script);

/* A click at the middle of the first element that a selector finds, as soon as it stays where it
 * is, and keys such as "Enter". */
bool ct_browser_click(struct ct_browser *b, const char *selector);
void ct_browser_press(struct ct_browser *b, const char *key);
void ct_browser_type(struct ct_browser *b, const char *text);

/* One command of the protocol in the page's session; takes the parameters, gives the result. */
json_t *ct_browser_command(struct ct_browser *b, const char *method, json_t *parameters);

/* Complaints since the page was opened, one a line; "": none. */
const char *ct_browser_complaints(const struct ct_browser *b);

/* Pictures are PNG files. */
bool ct_browser_picture(struct ct_browser *b, const char *path, bool whole);

#endif
