/* SPDX-License-Identifier: MIT */
/*
 * The page in a headless Chromium: drawn, clicked, driven by the keyboard; hostile names inert, no
 * complaint on its console, no request but for itself. Runs in the build directory.
 */
#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "browser.h"

#define SKIPPED 77

static struct ct_browser *browser;
static char dir[64];
static char top[512]; /* of the build directory */

__attribute__((format(printf, 1, 2))) static void run(const char *format, ...)
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

/* The page of a profile, opened. */
static void open_page(const char *tool, const char *kind)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/%s.html", dir, kind);
    run("%s %s %s/%s.bin && ./cutrace-report --format html -o %s %s/%s.bin", tool, kind, dir, kind,
        path, dir, kind);
    ck_assert_msg(ct_browser_open(browser, path), "%s", ct_browser_complaints(browser));
}

static void open_torch(void)
{
    open_page("tests/page/make_page_profile", "torch");
}

/* Each script is to give this text. */
#define SAYS(script, expected) ck_assert_str_eq(ct_browser_eval(browser, script), expected)
#define QUIET() ck_assert_str_eq(ct_browser_complaints(browser), "")

/* How many of these there are, as soon as there are n: a drawing comes with a frame of its own. */
#define COMES(selector, n)                                                                         \
    "new Promise((found) => { const look = () => {"                                                \
    " const now = document.querySelectorAll('" selector "').length;"                               \
    " if (now >= " n ") found(now); else setTimeout(look, 10); }; look(); })"

#define HEAD(key) "document.querySelector('#kernels th[data-key=" key "]')"
#define FIRST_ROW "document.querySelector('#kernels tr.row')"

START_TEST(draws_everything)
{
    open_torch();
    SAYS("document.title.includes('train.py')", "true");
    SAYS("[...document.querySelectorAll('main > section')].map((s) => s.id).join(' ')",
         "summary kernels timeline streams copies calls trust");
    SAYS("document.querySelector('h1').textContent.startsWith('The GPU was busy 70% of 2.35 s "
         "observed and"
         " waited 20% of it for launches: the run is launch-bound. sm90_xmma')",
         "true");
    SAYS("document.querySelectorAll('.advice li').length > 0", "true");
    SAYS("document.querySelectorAll('#streams .device .keys li').length", "7");
    SAYS("document.querySelectorAll('#copies .rate.part').length", "2");
    SAYS("[...document.querySelectorAll('#copies .faint')].filter((e) => /of "
         "peak$/.test(e.textContent)).length >= 3",
         "true");
    SAYS("document.querySelectorAll('.tile').length > 40", "true");
    SAYS("[...document.querySelectorAll('.tile')].every((t) => t.offsetLeft >= 0 &&"
         " t.offsetLeft + t.offsetWidth <= t.parentNode.clientWidth + 1 &&"
         " t.offsetTop + t.offsetHeight <= t.parentNode.clientHeight + 1)",
         "true");
    SAYS("document.querySelectorAll('#kernels tr.row').length", "40");
    SAYS("document.querySelectorAll('#calls tr.row').length", "8");
    SAYS("document.querySelector('#timeline .empty').textContent.includes('CUTRACE_TRACE')",
         "true");
    SAYS("document.documentElement.scrollWidth <= innerWidth", "true");
    QUIET();
}
END_TEST

START_TEST(shows_what_is_uncertain)
{
    open_torch();
    ck_assert(ct_browser_click(browser, "#kernels .under button"));
    SAYS("document.querySelectorAll('#kernels tr.row').length", "62");
    SAYS("[...document.querySelectorAll('#kernels tr.row')].filter((r) =>"
         " r.textContent.includes('~')).length",
         "1");
    SAYS("[...document.querySelectorAll('#kernels tr.row')].filter((r) =>"
         " r.textContent.includes('≤')).length",
         "1");
    SAYS("[...document.querySelectorAll('#kernels tr.row')].filter((r) =>"
         " r.textContent.includes('±')).length",
         "1");
    SAYS("document.querySelector('#trust').textContent.includes('1500 left out of the sample')",
         "true");
    QUIET();
}
END_TEST

START_TEST(sorts_filters_and_opens)
{
    open_torch();
    SAYS(HEAD("total") ".getAttribute('aria-sort')", "descending");
    ck_assert(ct_browser_click(browser, "#kernels th[data-key=calls] button"));
    SAYS(HEAD("calls") ".getAttribute('aria-sort')", "descending");
    SAYS(FIRST_ROW ".children[2].textContent", "9,600");
    ck_assert(ct_browser_click(browser, "#kernels th[data-key=calls] button"));
    SAYS(HEAD("calls") ".getAttribute('aria-sort')", "ascending");
    ck_assert(ct_browser_click(browser, "#kernels .search"));
    ct_browser_type(browser, "ALLREDUCE");
    SAYS("document.querySelectorAll('#kernels tr.row').length", "1");
    ck_assert(ct_browser_click(browser, "#kernels tr.row .opener"));
    SAYS(COMES("#kernels tr.detail canvas", "1"), "1");
    SAYS("document.querySelector('#kernels tr.detail .whole code').textContent",
         "ncclDevKernel_AllReduce_Sum_bf16_RING_LL");
    ck_assert(ct_browser_click(browser, "#kernels tr.row .opener"));
    SAYS("document.querySelectorAll('#kernels tr.detail').length", "0");
    QUIET();
}
END_TEST

/* A sort draws the rows anew, and what was open in them. */
START_TEST(plots_end_with_their_rows)
{
    open_torch();
    ck_assert(ct_browser_click(browser, "#kernels tr.row .opener"));
    SAYS(COMES("#kernels tr.detail canvas", "1"), "1");
    for (int i = 0; i < 3; i++) {
        ck_assert(ct_browser_click(browser, i % 2 ? "#kernels th[data-key=total] button"
                                                  : "#kernels th[data-key=calls] button"));
        SAYS(COMES("#kernels tr.detail canvas", "1"), "1");
    }
    SAYS("new Promise((r) => { const look = () => histogram.plots.size === 1 ? r(1)"
         " : setTimeout(look, 10); look(); })",
         "1");
    SAYS("[...histogram.plots.keys()][0].isConnected", "true");
    QUIET();
}
END_TEST

START_TEST(a_tile_leads_to_its_row)
{
    open_torch();
    ck_assert(ct_browser_click(browser, "#kernels .map .tile:nth-child(3)"));
    SAYS("document.querySelector('#kernels tr.row.open').dataset.index", "2");
    SAYS("document.activeElement.classList.contains('opener')", "true");
    QUIET();
}
END_TEST

START_TEST(keyboard_reaches_everything)
{
    open_torch();
    ct_browser_press(browser, "Tab");
    SAYS("document.activeElement.className", "skip");
    for (int i = 0; i < 9; i++)
        ct_browser_press(browser, "Tab");
    SAYS("document.activeElement.closest('.theme') !== null ||"
         " document.activeElement.closest('.choice') !== null",
         "true");
    SAYS("document.querySelector('.map .tile').focus()", "undefined");
    ct_browser_press(browser, "ArrowRight");
    SAYS("[...document.activeElement.parentNode.children].indexOf(document.activeElement)", "1");
    ct_browser_press(browser, "End");
    SAYS("document.activeElement === document.querySelector('.map').lastChild", "true");
    ct_browser_press(browser, "Home");
    ct_browser_press(browser, "Enter");
    SAYS("document.querySelector('#kernels tr.row.open').dataset.index", "0");
    ct_browser_press(browser, "Enter");
    SAYS("document.querySelectorAll('#kernels tr.detail').length", "0");
    SAYS("[...document.querySelectorAll('button, input, [href]')].filter((e) =>"
         " e.tabIndex < 0 && !e.classList.contains('tile')).length",
         "0");
    SAYS("[...document.querySelectorAll('button, input')].filter((e) =>"
         " !(e.textContent || e.getAttribute('aria-label'))).length",
         "0");
    QUIET();
}
END_TEST

#define PAPER "getComputedStyle(document.body).backgroundColor"

START_TEST(light_and_dark)
{
    open_torch();
    SAYS(PAPER, "rgb(255, 255, 255)");
    ck_assert(ct_browser_click(browser, ".theme [data-value=dark]"));
    SAYS(PAPER, "rgb(20, 23, 26)");
    SAYS("document.querySelector('.theme [data-value=dark]').getAttribute('aria-pressed')", "true");
    ck_assert(ct_browser_click(browser, ".theme [data-value=auto]"));
    json_decref(ct_browser_command(browser, "Emulation.setEmulatedMedia",
                                   json_pack("{s:[{s:s, s:s}]}", "features", "name",
                                             "prefers-color-scheme", "value", "dark")));
    SAYS(PAPER, "rgb(20, 23, 26)");
    ck_assert(ct_browser_click(browser, ".theme [data-value=light]"));
    SAYS(PAPER, "rgb(255, 255, 255)");
    ck_assert(ct_browser_click(browser, ".theme [data-value=auto]"));
    json_decref(
        ct_browser_command(browser, "Emulation.setEmulatedMedia", json_pack("{s:[]}", "features")));
    QUIET();
}
END_TEST

START_TEST(fits_a_phone)
{
    json_decref(ct_browser_command(browser, "Emulation.setDeviceMetricsOverride",
                                   json_pack("{s:i, s:i, s:i, s:b}", "width", 360, "height", 740,
                                             "deviceScaleFactor", 2, "mobile", 1)));
    open_torch();
    SAYS("document.documentElement.scrollWidth", "360");
    SAYS("[...document.querySelectorAll('.tiles > div')].every("
         "(tile) => tile.getBoundingClientRect().right < 360)",
         "true");
    json_decref(ct_browser_command(browser, "Emulation.clearDeviceMetricsOverride", NULL));
    QUIET();
}
END_TEST

START_TEST(hostile_names_are_inert)
{
    open_page("tests/page/make_page_profile", "hostile");
    SAYS("document.querySelectorAll('#kernels tr.row').length", "15");
    ct_browser_eval(browser, "document.querySelectorAll('.opener').forEach((b) => b.click())");
    SAYS(COMES("#kernels tr.detail canvas", "15"), "15");
    SAYS("window.hacked", "undefined");
    SAYS("document.querySelectorAll('main img, main script, main b b, main body').length", "0");
    SAYS("document.querySelectorAll('script').length", "3");
    SAYS("[...document.querySelectorAll('.whole code')].filter((c) =>"
         " c.textContent === '</script><script>window.hacked=1</script>').length",
         "1");
    SAYS("[...document.querySelectorAll('.whole code')].filter((c) =>"
         " c.textContent.includes('bad \\\\xff\\\\xfe utf-8')).length",
         "1");
    SAYS("document.documentElement.scrollWidth <= innerWidth", "true");
    QUIET();
}
END_TEST

START_TEST(empty_profiles_say_so)
{
    static const char *const kinds[] = {"none", "gpuonly", "apionly", "full", "uncertain"};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        open_page("tests/golden/make_profile", kinds[i]);
        SAYS("document.querySelectorAll('main > section').length", "7");
        QUIET();
    }
    open_page("tests/golden/make_profile", "none");
    SAYS("document.querySelector('h1').textContent",
         "Nothing ran on the GPU while this was recorded.");
}
END_TEST

/* ---- sections that are there only where the profile has something for them ---- */

#define CELLS(section, row)                                                                        \
    "[...document.querySelectorAll('#" section " tr.row')][" row                                   \
    "].innerText.split(/\\s*\\t\\s*/)"                                                             \
    ".map((t) => t.trim()).join('|')"
#define DETAILS(section)                                                                           \
    "[...document.querySelectorAll('#" section " tr.detail dt')].map((t) =>"                       \
    " `${t.textContent}: ${t.nextSibling.textContent}`).join('; ')"
#define SECTIONS "[...document.querySelectorAll('main > section')].map((s) => s.id).join(' ')"

/* As the report `nccl` has it. */
START_TEST(nccl_has_a_section)
{
    open_page("tests/golden/make_profile", "nccl");
    SAYS(SECTIONS, "summary kernels timeline streams copies nccl calls trust");
    SAYS("document.querySelector('nav a[href=\"#nccl\"]').textContent", "NCCL");
    SAYS(CELLS("nccl", "0"),
         "AllReduce float|8|16.000MB|120|10.000ms|100.00us|167.77GB/s|293.60GB/s");
    SAYS(CELLS("nccl", "4"), "Reduce|-|-|0|-|-|-|-");
    ck_assert(ct_browser_click(browser, "#nccl th[data-key=bus] button"));
    ck_assert(ct_browser_click(browser, "#nccl th[data-key=ranks] button"));
    ck_assert(ct_browser_click(browser, "#nccl th[data-key=ranks] button"));
    SAYS("document.querySelector('#nccl th[data-key=ranks]').getAttribute('aria-sort')",
         "ascending");
    SAYS("[...document.querySelectorAll('#nccl tr.row')].map((r) => "
         "r.children[1].textContent).join()",
         "-,-,1,4,8");
    ck_assert(ct_browser_click(browser, "#nccl tr.row:nth-child(4) .opener"));
    SAYS(COMES("#nccl tr.detail dl", "1"), "1");
    SAYS(DETAILS("nccl"), "Calls: 7; Timed: 4; Bytes: 7.0000MB; Min … max: 900.00us … 1.1000ms;"
                          " In groups with others: 2; Captured: 3");
    QUIET();
}
END_TEST

/* As the report `memory`: peaks, and what was not freed. */
START_TEST(allocations_have_a_section)
{
    open_page("tests/golden/make_profile", "allocated");
    SAYS(SECTIONS, "summary kernels timeline streams copies memory calls trust");
    SAYS(CELLS("memory", "0"), "GPU 0 · device memory in all|12|4.7684MB|1|7|4.2915MB|4|2.8610MB");
    SAYS("[...document.querySelectorAll('#memory .blocks tbody tr')].map((r) =>"
         " [...r.children].map((c) => c.textContent).join('|')).join('; ')",
         "GPU 0 · device|1|1.4305MB|1.4305MB; GPU 0 · device, in stream order|1|976.56KB|976.56KB;"
         " GPU 1 · pinned host|1|4.0000KB|4.0000KB; in further sizes|2|-|488.28KB");
    ck_assert(ct_browser_click(browser, "#memory tr.row:nth-child(4) .opener"));
    SAYS(COMES("#memory tr.detail dl", "1"), "1");
    SAYS(DETAILS("memory"), "Allocated: 2; Freed: 0; Freed, allocated unseen: 3; Not followed: 1");
    QUIET();
}
END_TEST

START_TEST(managed_memory_has_a_section)
{
    open_page("tests/golden/make_profile", "um");
    SAYS(SECTIONS, "summary kernels timeline streams copies managed calls trust");
    SAYS(CELLS("managed", "0"), "Gpu page fault groups|1|24|-|2.0000us|2.0000us|-");
    SAYS(CELLS("managed", "1"), "Host To Device|3|-|384.00KB|1.5000us|500ns|262.14GB/s");
    SAYS(CELLS("managed", "3"), "CPU page faults|1|-|-|-|-|-");
    ck_assert(ct_browser_click(browser, "#managed tr.row:nth-child(2) .opener"));
    SAYS(COMES("#managed tr.detail dl", "1"), "1");
    SAYS(DETAILS("managed"), "Count: 3; Mean size: 128.00KB; Min … max size: 64.000KB … 192.00KB;"
                             " Min … max time: 400ns … 600ns; Moved: after faults: 64.000KB;"
                             " Moved: around faults: 320.00KB");
    QUIET();
}
END_TEST

/* Those that nothing can have, and a type that nobody knows, on a phone. */
START_TEST(hostile_numbers_are_numbers)
{
    json_decref(ct_browser_command(browser, "Emulation.setDeviceMetricsOverride",
                                   json_pack("{s:i, s:i, s:i, s:b}", "width", 360, "height", 740,
                                             "deviceScaleFactor", 2, "mobile", 1)));
    open_page("tests/page/make_page_profile", "hostile");
    ct_browser_eval(browser, "document.querySelectorAll('#nccl .opener, #managed .opener,"
                             " #memory .opener').forEach((b) => b.click())");
    SAYS(COMES("#nccl tr.detail dl, #managed tr.detail dl, #memory tr.detail dl", "6"), "6");
    SAYS("['nccl', 'managed', 'memory'].map((id) => document.querySelector(`#${id} .opener`)"
         ".textContent).join('; ')",
         "AllReduce of a new kind; Host To Device; device");
    SAYS("['nccl', 'managed', 'memory'].filter((id) => /NaN|Infinity|undefined|null|e\\+/"
         ".test(document.getElementById(id).textContent)).join()",
         "");
    SAYS("document.documentElement.scrollWidth", "360");
    json_decref(ct_browser_command(browser, "Emulation.clearDeviceMetricsOverride", NULL));
    QUIET();
}
END_TEST

/* As in the reports. */
START_TEST(one_time_has_no_deviation)
{
    open_page("tests/golden/make_profile", "basic");
    ct_browser_eval(browser, "document.querySelectorAll('.opener').forEach((b) => b.click())");
    SAYS("['kernels', 'calls'].map((section) =>"
         " [...document.querySelectorAll(`#${section} tr.detail dl:first-of-type`)].map((l) =>"
         " ['Calls', 'Standard deviation'].map((title) => [...l.querySelectorAll('dt')]"
         ".find((t) => t.textContent === title)?.nextSibling.textContent))"
         ".filter(([calls, deviation]) => calls && (calls > 1) !== (deviation !== undefined))"
         ".length).join()",
         "0,0");
}
END_TEST

/* A view of the timeline, as shares of the whole. */
#define FROM "Math.round(100 * timeline.current().state.from / timeline.current().whole)"
#define TO "Math.round(100 * timeline.current().state.to / timeline.current().whole)"

static void open_timeline_of(const char *options)
{
    open_torch();
    run("tests/page/make_page_trace %s/torch.trace", dir);
    run("cd %s && %s/cutrace-report --format html -o traced.html torch.bin torch.trace %s", dir,
        top, options);
    char path[128];
    snprintf(path, sizeof(path), "%s/traced.html", dir);
    ck_assert(ct_browser_open(browser, path));
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
    SAYS("/Start (99|100)[.0-9]*ms/.test(document.querySelector('.chosen').textContent)", "true");
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

/* The same input gives the same bytes. */
START_TEST(is_reproducible)
{
    open_torch();
    run("./cutrace-report --format html %s/torch.bin | cmp - %s/torch.html", dir, dir);
}
END_TEST

static int run_tests(void)
{
    Suite *suite = suite_create("page");
    TCase *tests = tcase_create("page");
    tcase_add_test(tests, draws_everything);
    tcase_add_test(tests, shows_what_is_uncertain);
    tcase_add_test(tests, sorts_filters_and_opens);
    tcase_add_test(tests, plots_end_with_their_rows);
    tcase_add_test(tests, a_tile_leads_to_its_row);
    tcase_add_test(tests, keyboard_reaches_everything);
    tcase_add_test(tests, light_and_dark);
    tcase_add_test(tests, fits_a_phone);
    tcase_add_test(tests, hostile_names_are_inert);
    tcase_add_test(tests, empty_profiles_say_so);
    tcase_add_test(tests, nccl_has_a_section);
    tcase_add_test(tests, allocations_have_a_section);
    tcase_add_test(tests, managed_memory_has_a_section);
    tcase_add_test(tests, hostile_numbers_are_numbers);
    tcase_add_test(tests, one_time_has_no_deviation);
    tcase_add_test(tests, timeline_zooms_and_pans);
    tcase_add_test(tests, timeline_tells_of_operations);
    tcase_add_test(tests, timeline_is_of_the_span_that_is_asked_for);
    tcase_add_test(tests, processes_of_the_same_pid_are_told_apart);
    tcase_add_test(tests, partners_are_found_among_items_of_several);
    tcase_add_test(tests, is_reproducible);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK); /* they share the browser */
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(void)
{
    const char *tmp = getenv("TMPDIR");
    if (!ct_browser_program()) {
        puts("skipped: there is no Chromium (Debian: chromium), and CHROMIUM names none");
        return SKIPPED;
    }
    snprintf(dir, sizeof(dir), "%.40s/cutrace-page-XXXXXX", tmp ? tmp : "/tmp");
    browser = getcwd(top, sizeof(top)) && mkdtemp(dir) ? ct_browser_start(1280, 900) : NULL;
    if (!browser)
        return EXIT_FAILURE;
    int status = run_tests();
    ct_browser_stop(browser);
    run("rm -rf %s", dir);
    return status;
}
