/* SPDX-License-Identifier: MIT */
/*
 * show_page PAGE PICTURE [WIDTH HEIGHT [SCRIPT]]: a picture of a page, after a script has run in
 * it; what that evaluates to is printed. SCRIPT "whole" takes all of the page.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "browser.h"

int main(int argc, char **argv)
{
    if (argc < 3 || argc > 6)
        return fputs("usage: show_page PAGE PICTURE [WIDTH HEIGHT [SCRIPT]]\n", stderr), 2;
    if (!ct_browser_program())
        return fputs("show_page: there is no Chromium\n", stderr), 1;
    struct ct_browser *b =
        ct_browser_start(argc > 4 ? atoi(argv[3]) : 1280, argc > 4 ? atoi(argv[4]) : 900);
    if (!b)
        return 1;
    bool good = ct_browser_open(b, argv[1]);
    bool whole = argc == 6 && !strncmp(argv[5], "whole", 5);
    const char *script = argc == 6 ? argv[5] + (whole ? 5 : 0) : "";
    if (*script)
        puts(ct_browser_eval(b, script));
    ct_browser_eval(b, "new Promise((r) => setTimeout(r, 300))");
    good = good && ct_browser_picture(b, argv[2], whole);
    fputs(ct_browser_complaints(b), stderr);
    ct_browser_stop(b);
    return good ? 0 : 1;
}
