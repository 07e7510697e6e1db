/* SPDX-License-Identifier: MIT */
/* The timeline of the page. */
#include "page_case.h"

#include <stdio.h>

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
    SAYS("timeline.current().state.marked > 0", "true");
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

/* A process of another container: the same pid, and correlations that begin at 1 as well. */
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
         "gpu-node-07 4711 (1) · stream 1 (default),"
         "gpu-node-07 4711 (2) · stream 1 (default)");
    SAYS("document.querySelector('#timeline .lanes').focus()", "undefined");
    for (int i = 0; i < 4; i++)
        ct_browser_press(browser, "ArrowDown");
    press_shift_right();
    SAYS("timeline.current().state.chosen.partner.row.label",
         "gpu-node-07 4711 (2) · python3 4711");
    QUIET();
}
END_TEST

/* Counts the items of a lane, with those between them that stand for several. */
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

/* W A S D, in either case. */
START_TEST(timeline_goes_by_letters)
{
    open_timeline();
    SAYS("document.querySelector('#timeline .lanes').focus()", "undefined");
    ct_browser_press(browser, "w");
    SAYS(FROM " + ' ' + " TO, "20 80");
    ct_browser_press(browser, "D");
    SAYS(FROM " + ' ' + " TO, "32 92");
    ct_browser_press(browser, "a");
    SAYS(FROM " + ' ' + " TO, "20 80");
    ct_browser_press(browser, "S");
    SAYS(FROM " + ' ' + " TO, "0 100");
    QUIET();
}
END_TEST

/* Grid, block, bytes and throughput beside times. */
START_TEST(operations_tell_how_they_were_launched)
{
    open_timeline();
    SAYS("document.querySelector('#timeline .lanes').focus()", "undefined");
    press_shift_right();
    SAYS("/Grid 264 × 8 × 1.*Block 256 × 1 × 1.*Dynamic shared 48.0\\sKB.*Registers 120"
         ".*Occupancy, waves 25%, 8.00/.test(document.querySelector('.chosen').textContent)",
         "true");
    ct_browser_press(browser, "ArrowDown");
    ct_browser_press(browser, "ArrowDown");
    press_shift_right();
    SAYS("/Bytes 2.00\\sMB.*Throughput [45][0-9.]+\\sGB.s/.test("
         "document.querySelector('.chosen').textContent)",
         "true");
    SAYS("document.querySelector('.chosen').textContent.includes('Grid')", "false");
    QUIET();
}
END_TEST

static void mouse(const char *type, const char *x)
{
    double at[2];
    const char *place = ct_browser_eval(browser, x);
    ck_assert_int_eq(sscanf(place, "%lf %lf", &at[0], &at[1]), 2);
    json_decref(ct_browser_command(browser, "Input.dispatchMouseEvent",
                                   json_pack("{s:s, s:f, s:f, s:s, s:i, s:i}", "type", type, "x",
                                             at[0], "y", at[1], "button", "left", "clickCount", 1,
                                             "modifiers", 8)));
}

/* A place on the lanes, as a part of their width. */
#define AT(part)                                                                                   \
    "(() => { const b = document.querySelector('#timeline .lanes').getBoundingClientRect();"       \
    " return `${b.left + " part " * b.width} ${b.top + 40}`; })()"

START_TEST(a_span_has_sums)
{
    open_timeline();
    SAYS("void document.querySelector('#timeline .lanes').scrollIntoView({ block: 'center',"
         " behavior: 'instant' })",
         "undefined");
    mouse("mousePressed", AT("0.25"));
    mouse("mouseMoved", AT("0.4"));
    mouse("mouseReleased", AT("0.5"));
    SAYS("[timeline.current().state.span.from, timeline.current().state.span.to].map((ns) =>"
         " Math.round(100 * ns / timeline.current().whole)).join()",
         "25,50");
    SAYS(FROM " + ' ' + " TO, "0 100");
    SAYS("/^18[0-9]\\sms selectedfrom 18[0-9.]+\\sms to 36[0-9.]+\\sms · the GPU was busy .*"
         "9[0-9](\\.[0-9])?% · 2,6[0-9]{2} operations/.test("
         "document.querySelector('.selected .bar').textContent)",
         "true");
    SAYS("document.querySelectorAll('.selected .sums > div').length", "2");
    SAYS("document.querySelector('.selected tbody .mono').textContent.includes('128x256x64')",
         "true");
    SAYS("document.querySelector('#timeline .lanes').focus()", "undefined");
    ct_browser_press(browser, "Escape");
    SAYS("document.querySelector('.selected').hidden", "true");
    QUIET();
}
END_TEST

/* Work at once counts once; an item counts as far as it is inside. */
START_TEST(sums_are_of_the_part_inside)
{
    open_timeline();
    SAYS("(() => { const lane = (start, end) => ({ start, end, items: start.length,"
         " what: start.map(() => 7), count: start.map(() => 1), bytes: start.map(() => 8) });"
         " const row = (i, call) => ({ i, call, facts: {} });"
         " const s = span.sums([row(0, false), row(1, false), row(2, true)],"
         " [lane([0, 20], [10, 30]), lane([5], [25]), lane([0], [100])], { from: 8, to: 28 });"
         " return [s.busy, s.gpu.get(7).ns, s.gpu.get(7).count, s.gpu.get(7).bytes,"
         " s.calls.get(7).ns].join(); })()",
         "20,27,3,24,20");
}
END_TEST

START_TEST(search_leads_from_one_to_the_next)
{
    open_timeline();
    ck_assert(ct_browser_click(browser, "#timeline .search"));
    ct_browser_type(browser, "AllReduce");
    SAYS("new Promise((r) => setTimeout(() => r(document.querySelector('#timeline .bar [role="
         "status]').textContent), 50))",
         "144 found");
    SAYS("timeline.current().state.marked", "144");
    ct_browser_press(browser, "Enter");
    SAYS("document.querySelector('#timeline .bar [role=status]').textContent", "1 of 144");
    SAYS("document.querySelector('.chosen').textContent.includes('AllReduce')", "true");
    ck_assert(ct_browser_click(browser, "#timeline .search"));
    ct_browser_press(browser, "Enter");
    SAYS("document.querySelector('#timeline .bar [role=status]').textContent", "2 of 144");
    QUIET();
}
END_TEST

/* The lanes grow with the room, and the tooltip is where it is seen. */
START_TEST(timeline_fills_the_screen)
{
    open_timeline();
    SAYS("document.querySelector('#timeline .stage').offsetHeight < innerHeight", "true");
    SAYS("document.querySelector('#timeline .lanes').focus()", "undefined");
    ct_browser_eval(browser, "window.before = timeline.current().rows[0].tall");
    ct_browser_press(browser, "f");
    SAYS("new Promise((r) => { const look = () => document.fullscreenElement &&"
         " timeline.current().rows[0].tall > window.before ? r('grown') : setTimeout(look, 10);"
         " look(); })",
         "grown");
    SAYS("document.getElementById('tip').parentNode.className", "timeline");
    ct_browser_press(browser, "f");
    SAYS("new Promise((r) => { const look = () => !document.fullscreenElement &&"
         " timeline.current().rows[0].tall === window.before ? r('back') : setTimeout(look, 10);"
         " look(); })",
         "back");
    QUIET();
}
END_TEST

START_TEST(the_longest_lead_to_the_timeline)
{
    open_timeline();
    SAYS("document.querySelectorAll('.longest tbody tr').length", "10");
    SAYS("(() => { const t = timeline.current(), all = longest.find(t.rows, t.state.data, false);"
         " const most = Math.max(...t.rows.filter((r) => !r.call).flatMap((r) =>"
         " [...t.state.data[r.i].end].map((e, i) => e - t.state.data[r.i].start[i])));"
         " return all[0].ns === most && all.every((x, i) => !i || x.ns <= all[i - 1].ns); })()",
         "true");
    ck_assert(ct_browser_click(browser, ".longest tbody tr:nth-child(5) button"));
    SAYS("document.querySelector('.chosen').textContent.includes('AllReduce')", "true");
    SAYS("(() => { const s = timeline.current().state, l = s.data[s.chosen.row.i];"
         " return l.start[s.chosen.i] >= s.from && l.end[s.chosen.i] <= s.to &&"
         " s.to - s.from < timeline.current().whole / 10; })()",
         "true");
    ck_assert(ct_browser_click(browser, ".longest [data-value=calls]"));
    SAYS("document.querySelector('.longest tbody .mono').textContent", "cudaStreamSynchronize");
    QUIET();
}
END_TEST

START_TEST(ranks_are_compared)
{
    for (int i = 0; i < 4; i++) {
        run("tests/page/make_page_profile rank%d %s/rank%d.bin", i, dir, i);
        run("tests/page/make_page_trace %s/rank%d.trace 4 %d", dir, i, i);
    }
    run("./cutrace-report --format html -o %s/ranks.html %s/rank?.bin %s/rank?.trace", dir, dir,
        dir);
    open_file("ranks.html");
    ct_browser_eval(browser, "timeline.current().ready");
    SAYS("document.querySelectorAll('#timeline .labels div')[9].textContent", "rank 2 · stream 2");
    SAYS("document.querySelector('#ranks .note').textContent",
         "GPU time is longest on rank 2: 1.80 s, 1.05 times the mean of 1.72 s. Where all wait for "
         "it, each loses 78.4 ms, 4.4% of the longest time. Ranks differ most in flash_fwd_kernel:"
         " 78.4 ms more than the mean on rank 2.");
    SAYS("[...document.querySelectorAll('#ranks .rank')].map((r) => Math.round(r.firstChild"
         ".offsetHeight / r.parentNode.clientHeight * 20)).join()",
         "17,17,18,17");
    SAYS("document.querySelector('#ranks tr.row .text').textContent", "rank 2");
    SAYS("document.querySelectorAll('#ranks table').length", "2");
    run("cd %s && echo x >broken.bin && ! %s/cutrace-report --format html -o ranks.html rank?.bin "
        "broken.bin 2>err && test $(wc -l <err) -eq 1",
        dir, top);
    open_file("ranks.html");
    SAYS("document.querySelectorAll('#ranks table').length", "1");
    QUIET();
}
END_TEST

/* As NVIDIA's calculator has it. */
#define FITS(compute, registers, fixed, block, dynamic)                                            \
    "(() => { const r = residency.of({ compute: '" compute                                         \
    "', sm_count: 100 }, { registers: " registers ", static_shared: " fixed                        \
    " }, [400, 1, 1, " block ", 1, 1, " dynamic "]);"                                              \
    " return r ? [r.blocks, r.occupancy, r.waves, r.limit].join() : 'unknown'; })()"

START_TEST(occupancy_is_that_of_the_rules)
{
    open_torch();
    SAYS(FITS("9.0", "32", "0", "256", "0"), "8,100,0.5,warps");
    SAYS(FITS("9.0", "64", "0", "128", "0"), "8,50,0.5,registers");
    SAYS(FITS("9.0", "168", "1024", "384", "196608"), "1,18.75,4,registers");
    SAYS(FITS("9.0", "32", "1024", "256", "49152"), "4,50,1,shared memory");
    SAYS(FITS("8.6", "40", "0", "32", "0"), "16,33.333333333333336,0.25,blocks");
    SAYS(FITS("7.5", "255", "0", "256", "0"), "1,25,4,registers");
    SAYS(FITS("1.3", "16", "0", "256", "0"), "unknown");
    ck_assert(ct_browser_click(browser, "#kernels tr.row .opener"));
    SAYS(COMES("#kernels tr.detail .scroll tbody tr", "2"), "2");
    SAYS("[...document.querySelectorAll('#kernels tr.detail .scroll tbody tr')].map((r) =>"
         " [...r.children].slice(3).map((c) => c.textContent).join('|')).join('; ')",
         "104|1.00 KB|0 B|25%|0.50|registers, 4 blocks; "
         "104|1.00 KB|48.0 KB|25%|4.03|registers, 2 blocks");
    QUIET();
}
END_TEST

void add_timeline_tests(TCase *tests)
{
    tcase_add_test(tests, timeline_zooms_and_pans);
    tcase_add_test(tests, timeline_tells_of_operations);
    tcase_add_test(tests, timeline_is_of_the_span_that_is_asked_for);
    tcase_add_test(tests, processes_of_the_same_pid_are_told_apart);
    tcase_add_test(tests, partners_are_found_among_items_of_several);
    tcase_add_test(tests, timeline_goes_by_letters);
    tcase_add_test(tests, operations_tell_how_they_were_launched);
    tcase_add_test(tests, a_span_has_sums);
    tcase_add_test(tests, sums_are_of_the_part_inside);
    tcase_add_test(tests, search_leads_from_one_to_the_next);
    tcase_add_test(tests, timeline_fills_the_screen);
    tcase_add_test(tests, the_longest_lead_to_the_timeline);
    tcase_add_test(tests, ranks_are_compared);
    tcase_add_test(tests, occupancy_is_that_of_the_rules);
}
