/* SPDX-License-Identifier: MIT */
#include "report/exports/chrome_color.h"

#include <stddef.h>

#include "base/base.h"

/* From Chromium's catapult, tracing/base/color_scheme.html: "reserved colors". */
static const struct {
    const char *name;
    uint8_t rgb[3];
} colors[] = {
    {"thread_state_running", {126, 200, 148}},
    {"thread_state_runnable", {133, 160, 210}},
    {"thread_state_iowait", {255, 140, 0}},
    {"light_memory_dump", {0, 0, 180}},
    {"detailed_memory_dump", {180, 0, 180}},
    {"background_memory_dump", {0, 180, 180}},
    {"vsync_highlight_color", {0, 0, 255}},
    {"generic_work", {125, 125, 125}},
    {"good", {0, 125, 0}},
    {"bad", {180, 125, 0}},
    {"terrible", {180, 0, 0}},
    {"black", {0, 0, 0}},
    {"grey", {221, 221, 221}},
    {"white", {255, 255, 255}},
    {"yellow", {255, 255, 0}},
    {"olive", {100, 100, 0}},
    {"rail_response", {67, 135, 253}},
    {"rail_animation", {244, 74, 63}},
    {"rail_load", {13, 168, 97}},
};

static int distance(const uint8_t rgb[3], uint32_t argb)
{
    int sum = 0;
    for (int i = 0; i < 3; i++) {
        int difference = rgb[i] - (int)(argb >> (16 - 8 * i) & 0xff);
        sum += difference * difference;
    }
    return sum;
}

const char *ct_chrome_color(uint32_t argb)
{
    size_t best = 0;
    for (size_t i = 1; i < ct_countof(colors); i++)
        if (distance(colors[i].rgb, argb) < distance(colors[best].rgb, argb))
            best = i;
    return argb ? colors[best].name : NULL;
}
