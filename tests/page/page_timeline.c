/* SPDX-License-Identifier: MIT */
/* The timeline of the page. */
#include "page_case.h"

/* A view of the timeline, as shares of the whole. */
#define FROM "Math.round(100 * timeline.current().state.from / timeline.current().whole)"
#define TO "Math.round(100 * timeline.current().state.to / timeline.current().whole)"

static void open_timeline_of(const char *options)
{
    open_torch();
    run("tests/page/make_page_trace %s/torch.trace", dir);
    run("cd %s && %s/cutrace-report --format html -o traced.html torch.bin torch.trace %s", dir,
        top, options);
    open_file("traced.html");
    ct_browser_eval(browser, "timeline.current().ready");
}

static void open_timeline(void)
{
    open_timeline_of("");
}

/* Chooses the next operation. */
static void press_shift_right(void)
{
    json_decref(
        ct_browser_command(browser, "Input.dispatchKeyEvent",
                           json_pack("{s:s, s:s, s:i, s:i}", "type", "rawKeyDown", "key",
                                     "ArrowRight", "windowsVirtualKeyCode", 39, "modifiers", 8)));
}

START_TEST(timeline_zooms_and_pans)
{
    open_timeline();
    SAYS("document.querySelectorAll('#timeline .labels div').length", "4");
    SAYS("document.querySelector('#timeline .reading').textContent",
         "10,656 operations, 10,704 calls");
    SAYS(FROM " + ' ' + " TO, "0 100");
    ck_assert(ct_browser_click(browser, "#timeline button[aria-label=\"Zoom in\"]"));
    SAYS(FROM " + ' ' + " TO, "25 75");
    SAYS("document.querySelector('#timeline .lanes').focus()", "undefined");
    ct_browser_press(browser, "ArrowRight");
    SAYS(FROM " + ' ' + " TO, "35 85");
    ct_browser_press(browser, "Home");
    SAYS(FROM " + ' ' + " TO, "0 100");
    ct_browser_press(browser, "+");
    SAYS(FROM " + ' ' + " TO, "20 80");
    /* Something is drawn in the middle of the first lane. */
    SAYS("new Promise((r) => requestAnimationFrame(() => { const c = document.querySelector("
         "'.lanes'); const p = c.getContext('2d').getImageData(c.width / 2, 30 * devicePixelRatio,"
         " 1, 1).data; r(p[3] === 255 && (p[0] !== 246 || p[1] !== 247)); }))",
         "true");
    QUIET();
}
END_TEST

START_TEST(timeline_tells_of_operations)
{
    open_timeline();
    SAYS("document.querySelector('#timeline .lanes').focus()", "undefined");
    ct_browser_press(browser, "ArrowDown");
    ct_browser_press(browser, "ArrowUp");
    SAYS("document.getElementById('said').textContent", "stream 1 (default)");
    SAYS("timeline.current().state.chosen", "null");
    press_shift_right();
    SAYS("/triton_red_fused.*Duration.*Called by cudaLaunchKernel/.test("
         "document.querySelector('.chosen').textContent)",
         "true");
    SAYS("document.getElementById('said').textContent.includes('triton_red_fused')", "true");
    ck_assert(ct_browser_click(browser, "#timeline .lanes"));
    SAYS("timeline.current().state.chosen !== null", "true");
    ck_assert(ct_browser_click(browser, "#kernels tr.row .opener"));
    ck_assert(ct_browser_click(browser, "#kernels .whole button:last-child"));
    ct_browser_eval(browser, "timeline.current().ready");
    SAYS("timeline.current().state.marked >= 0", "true");
    SAYS("document.querySelector('.chosen').textContent.includes('xmma_gemm')", "true");
    SAYS("window.hacked", "undefined");
    QUIET();
}
END_TEST

/* Times stay those since the traces began, as in the reports. */
START_TEST(timeline_is_of_the_span_that_is_asked_for)
{
    open_timeline_of("--since 100ms --until 200ms");
    SAYS("/^[1-9],[0-9]+ operations, [1-9],[0-9]+ calls$/.test("
         "document.querySelector('#timeline .reading').textContent)",
         "true");
    SAYS("timeline.current().state.data.every((lane) => { const from = "
         "JSON.parse(document.getElementById('profile').textContent).timeline.first;"
         " return lane.end[0] + from >= 100e6 && lane.start.at(-1) + from < 200e6; })",
         "true");
    SAYS("document.querySelector('#timeline .lanes').focus()", "undefined");
    press_shift_right();
    SAYS("/Start (99|100)[.0-9]*\\sms/.test(document.querySelector('.chosen').textContent)",
         "true");
    QUIET();
}
END_TEST

/* Of another container: the same pid, and correlations that begin at 1 as well. */
START_TEST(processes_of_the_same_pid_are_told_apart)
{
    run("tests/page/make_page_trace %s/other.trace 20", dir);
    open_timeline_of("other.trace");
    SAYS("document.querySelectorAll('#timeline .labels div').length", "8");
    SAYS("new Set([...document.querySelectorAll('#timeline .labels div')]"
         ".map((l) => l.textContent)).size",
         "8");
    SAYS("[0, 4].map((row) => document.querySelectorAll('#timeline .labels div')[row].textContent)"
         ".join()",
         "gpu-node-07 4711 (1) · GPU 0 · stream 1 (default),"
         "gpu-node-07 4711 (2) · GPU 0 · stream 1 (default)");
    SAYS("document.querySelector('#timeline .lanes').focus()", "undefined");
    for (int i = 0; i < 4; i++)
        ct_browser_press(browser, "ArrowDown");
    press_shift_right();
    SAYS("timeline.current().state.chosen.partner.row.label",
         "gpu-node-07 4711 (2) · python3 4711");
    QUIET();
}
END_TEST

/* Of the items of a lane, with those between them that stand for several. */
#define RELATED(number)                                                                            \
    "lanes.related({ items: 6, correlation: [5, 7, 9, 12, 14, 15], count: [1, 2, 1, 3, 1, 1] "     \
    "}, " number ")"

START_TEST(partners_are_found_among_items_of_several)
{
    open_timeline();
    SAYS(RELATED("5"), "0");
    SAYS(RELATED("9"), "2");
    SAYS(RELATED("14"), "4");
    SAYS(RELATED("15"), "5");
    SAYS(RELATED("7"), "-1");
    SAYS(RELATED("13"), "-1");
}
END_TEST

void add_timeline_tests(TCase *tests)
{
    tcase_add_test(tests, timeline_zooms_and_pans);
    tcase_add_test(tests, timeline_tells_of_operations);
    tcase_add_test(tests, timeline_is_of_the_span_that_is_asked_for);
    tcase_add_test(tests, processes_of_the_same_pid_are_told_apart);
    tcase_add_test(tests, partners_are_found_among_items_of_several);
}
