/* SPDX-License-Identifier: MIT */
/*
 * The page in a headless Chromium: drawn, clicked, driven by the keyboard; hostile names inert, no
 * complaint on its console, no request but for itself. Runs in the build directory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "page_case.h"

#define SKIPPED 77

#define HEAD(key) "document.querySelector('#kernels th[data-key=" key "]')"
#define FIRST_ROW "document.querySelector('#kernels tr.row')"

START_TEST(draws_everything)
{
    open_torch();
    SAYS("document.title.includes('train.py')", "true");
    SAYS("[...document.querySelectorAll('main > section')].map((s) => s.id).join(' ')",
         "summary kernels timeline streams copies calls trust");
    SAYS("document.querySelector('h1').textContent.startsWith('The GPU was busy 70% of "
         "2.35\\u00a0s observed and"
         " waited 20% of it for launches: the run is launch-bound. sm90_xmma')",
         "true");
    /* Idle time of a device that was hardly idle is less than the kernel's. */
    SAYS("(() => { const p = JSON.parse(document.getElementById('profile').textContent);"
         " Object.assign(p.headline, { busy: 95, launch: 1, launch_bound: false });"
         " return headline.create(p).querySelector('h1').textContent; })()",
         "sm90_xmma…tn_n_tilesize128x128x64_w… took 33% of GPU time, copies 2.0%. The GPU was busy "
         "95% of 2.35 s observed, and the run is not launch-bound.");
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
    SAYS("document.querySelectorAll('#kernels tr.row').length", "10");
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
    SAYS("document.querySelector('#kernels .under').textContent",
         "Show all 6252 more rows, 8.6% of the time");
    ck_assert(ct_browser_click(browser, "#kernels .under button"));
    SAYS("document.querySelectorAll('#kernels tr.row').length", "62");
    SAYS("document.querySelector('#kernels .under').textContent", "Show 10");
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
    resize(360, 740);
    open_torch();
    SAYS("document.documentElement.scrollWidth", "360");
    SAYS("[...document.querySelectorAll('.tiles > div')].every("
         "(tile) => tile.getBoundingClientRect().right < 360)",
         "true");
    resize(0, 0);
    QUIET();
}
END_TEST

/* Columns go before the name does. */
START_TEST(names_are_read_in_a_narrow_window)
{
    resize(800, 900);
    open_torch();
    SAYS("['kernels', 'streams', 'copies', 'calls'].filter((id) => {"
         " const box = document.querySelector(`#${id} .scroll`);"
         " return box.scrollWidth > box.clientWidth ||"
         " box.querySelector('tr.row td.name').clientWidth < 200; }).join()",
         "");
    resize(0, 0);
    QUIET();
}
END_TEST

START_TEST(hostile_names_are_inert)
{
    open_page("tests/page/make_page_profile", "hostile");
    ck_assert(ct_browser_click(browser, "#kernels .under button"));
    SAYS("document.querySelectorAll('#kernels tr.row').length", "15");
    ct_browser_eval(browser, "document.querySelectorAll('.opener').forEach((b) => b.click())");
    SAYS(COMES("#kernels tr.detail canvas", "15"), "15");
    SAYS("window.hacked", "undefined");
    SAYS("document.querySelectorAll('main img, main script, main b b, main body').length", "0");
    SAYS("document.querySelectorAll('script').length", "3");
    SAYS("[...document.querySelectorAll('.whole code')].filter((c) =>"
         " c.textContent === '</script><script>window.hacked=1</script>').length",
         "1");
    SAYS("[...document.querySelectorAll('#kernels .whole code')].filter((c) =>"
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
    SAYS(CELLS("nccl", "0"), "AllReduce float|8|16.0 MB|120|10.0 ms|100 µs|168 GB/s|294 GB/s");
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
    SAYS(DETAILS("nccl"), "Calls: 7; Timed: 4; Bytes: 7.00 MB; Min … max: 900 µs … 1.10 ms;"
                          " In groups with others: 2; Captured: 3");
    QUIET();
}
END_TEST

/* As the report `memory`: peaks, and what was not freed. */
START_TEST(allocations_have_a_section)
{
    open_page("tests/golden/make_profile", "allocated");
    SAYS(SECTIONS, "summary kernels timeline streams copies memory calls trust");
    SAYS(CELLS("memory", "0"), "GPU 0 · device memory in all|12|4.77 MB|1|7|4.29 MB|4|2.86 MB");
    SAYS("[...document.querySelectorAll('#memory .blocks tbody tr')].map((r) =>"
         " [...r.children].map((c) => c.textContent).join('|')).join('; ')",
         "GPU 0 · device|1|1.43 MB|1.43 MB; GPU 0 · device, in stream order|1|977 KB|977 KB;"
         " GPU 1 · pinned host|1|4.00 KB|4.00 KB; in further sizes|2|-|488 KB");
    ck_assert(ct_browser_click(browser, "#memory tr.row:nth-child(4) .opener"));
    SAYS(COMES("#memory tr.detail dl", "1"), "1");
    SAYS(DETAILS("memory"), "Allocated: 2; Freed: 0; Freed, allocated unseen: 3; Not followed: 1");
    QUIET();
}
END_TEST

START_TEST(devices_have_a_section)
{
    open_page("tests/golden/make_profile", "sensors");
    SAYS(SECTIONS, "summary kernels timeline sensors streams copies calls trust");
    SAYS("[...document.querySelectorAll('#sensors tbody tr')].map((r) =>"
         " [...r.children].map((c) => c.textContent).join('|')).join('; ')",
         "GPU 0 · SM clock|1786 MHz|1395 MHz|1980 MHz|1980 MHz; GPU 0 · Power|652 W|96 W|701 W|700 "
         "W;"
         " GPU 0 · Power by the energy counter|650 W|650 W|650 W|-;"
         " GPU 0 · Memory in use|14.0 GB|954 MB|18.6 GB|74.5 GB;"
         " GPU 0 · DRAM bandwidth|87.0 %|2.0 %|93.0 %|100.0 %;"
         " GPU 0 · Clock held by: power cap, at 1410 MHz|34%|-|-|-");
    QUIET();
}
END_TEST

START_TEST(managed_memory_has_a_section)
{
    open_page("tests/golden/make_profile", "um");
    SAYS(SECTIONS, "summary kernels timeline streams copies managed calls trust");
    SAYS(CELLS("managed", "0"), "Gpu page fault groups|1|24|-|2.00 µs|2.00 µs|-");
    SAYS(CELLS("managed", "1"), "Host To Device|3|-|384 KB|1.50 µs|500 ns|262 GB/s");
    SAYS(CELLS("managed", "3"), "CPU page faults|1|-|-|-|-|-");
    ck_assert(ct_browser_click(browser, "#managed tr.row:nth-child(2) .opener"));
    SAYS(COMES("#managed tr.detail dl", "1"), "1");
    SAYS(DETAILS("managed"), "Count: 3; Mean size: 128 KB; Min … max size: 64.0 KB … 192 KB;"
                             " Min … max time: 400 ns … 600 ns; Moved: after faults: 64.0 KB;"
                             " Moved: around faults: 320 KB");
    QUIET();
}
END_TEST

/* As the report `diff`: changes by size, whether they are chance, and the exit status. */
START_TEST(two_runs_are_compared)
{
    open_torch();
    run("tests/page/make_page_profile changed %s/changed.bin", dir);
    run("./cutrace-report diff %s/torch.bin %s/changed.bin --format html -o %s/diff.html", dir, dir,
        dir);
    run("./cutrace-report diff %s/torch.bin %s/changed.bin --format html --fail-over 5%% >%s/over;"
        " test $? -eq 3",
        dir, dir, dir);
    run("cmp %s/over %s/diff.html", dir, dir);
    open_file("diff.html");
    SAYS(SECTIONS, "changes calls trust");
    SAYS("/^GPU time grew from 1.70 s to 1.86 s \\(\\+9.9%\\). sm90_xmma.*: slower,"
         " \\+17[0-9] ms \\(\\+5[0-9]/.test(document.querySelector('h1').textContent"
         ".replaceAll('\\u00a0', ' '))",
         "true");
    SAYS("document.querySelectorAll('#changes tr.row').length", "10");
    SAYS("[...document.querySelectorAll('#changes tr.row')].slice(0, 2).map((r) =>"
         " r.children[6].textContent).join()",
         "slower,faster");
    SAYS("[...document.querySelectorAll('#changes .tiles dd')].slice(3, 5).map((d) =>"
         " d.textContent).join('; ')",
         "+9.45 ms1 row; −1.60 ms1 row");
    ck_assert(ct_browser_click(browser, "#changes th[data-key=new] button"));
    SAYS("document.querySelector('#changes th[data-key=new]').getAttribute('aria-sort')",
         "descending");
    ck_assert(ct_browser_click(browser, "#changes .changes button"));
    SAYS(COMES("#changes tr.detail .overlay path", "2"), "2");
    SAYS("document.querySelector('#changes tr.row.open').dataset.index", "0");
    SAYS("document.documentElement.scrollWidth <= innerWidth", "true");
    QUIET();
}
END_TEST

/* Those that nothing can have, and a type that nobody knows, on a phone. */
START_TEST(hostile_numbers_are_numbers)
{
    resize(360, 740);
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
    resize(0, 0);
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
    tcase_add_test(tests, names_are_read_in_a_narrow_window);
    tcase_add_test(tests, hostile_names_are_inert);
    tcase_add_test(tests, empty_profiles_say_so);
    tcase_add_test(tests, nccl_has_a_section);
    tcase_add_test(tests, allocations_have_a_section);
    tcase_add_test(tests, devices_have_a_section);
    tcase_add_test(tests, managed_memory_has_a_section);
    tcase_add_test(tests, two_runs_are_compared);
    tcase_add_test(tests, hostile_numbers_are_numbers);
    tcase_add_test(tests, one_time_has_no_deviation);
    tcase_add_test(tests, is_reproducible);
    add_timeline_tests(tests);
    add_python_tests(tests);
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
