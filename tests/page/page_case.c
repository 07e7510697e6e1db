/* SPDX-License-Identifier: MIT */
#include "page_case.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct ct_browser *browser;
char dir[64];
char top[512];

void run(const char *format, ...)
{
    char command[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof(command), format, args);
    va_end(args);
    if (system(command)) {
        fprintf(stderr, "failed: %s\n", command);
        exit(EXIT_FAILURE);
    }
}

void open_file(const char *name)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    ck_assert_msg(ct_browser_open(browser, path), "%s", ct_browser_complaints(browser));
}

void open_page(const char *tool, const char *kind)
{
    char name[32];
    run("%s %s %s/%s.bin && ./cutrace-report --format html -o %s/%s.html %s/%s.bin", tool, kind,
        dir, kind, dir, kind, dir, kind);
    snprintf(name, sizeof(name), "%s.html", kind);
    open_file(name);
}

void open_torch(void)
{
    open_page("tests/page/make_page_profile", "torch");
}

void resize(int width, int height)
{
    json_decref(width ? ct_browser_command(browser, "Emulation.setDeviceMetricsOverride",
                                           json_pack("{s:i, s:i, s:i, s:b}", "width", width,
                                                     "height", height, "deviceScaleFactor",
                                                     width < 500 ? 2 : 1, "mobile", width < 500))
                      : ct_browser_command(browser, "Emulation.clearDeviceMetricsOverride", NULL));
}
