/* SPDX-License-Identifier: MIT */
/* Python stacks in the page: the flame graph, lines, callers, and two runs of a program. */
#include "page_case.h"

#include <stdio.h>

#define PYTHON "tests/page/make_page_profile", "python"
#define VIEW "python.current().view"
#define CHANGES "lineChanges.current().view"
#define TALL "flamePainter.TALL"

/* Boxes of a flame graph, row by row: their texts, and their widths in percent. */
#define ROWS(view)                                                                                 \
    view ".placed().rows.map((row) => row.map((b) => `${" view ".look(b).text} ${Math.round(100 *" \
         " b.w / document.querySelector('.flame').clientWidth)}`).join(', ')).join('; ')"
#define ROW(view, n) view ".placed().rows[" n "].map((b) => " view ".look(b).text).join(', ')"

#define FOCUS() SAYS("document.querySelector('.flame').focus()", "undefined")
#define DETAILS "document.querySelector('#python .chosen').innerText.replaceAll(/\\s+/g, ' ')"
#define STEPS                                                                                      \
    "[...document.querySelectorAll('#python .steps button')].map((b) => b.textContent).join(' > "  \
    "')"
#define CELLS(n)                                                                                   \
    "[...document.querySelectorAll('#python tr.row')[" n "].children].map((c) =>"                  \
    " c.textContent).join('|')"
#define SECTIONS "[...document.querySelectorAll('main > section')].map((s) => s.id).join(' ')"

static double number_of(const char *script)
{
    double value = -1;
    sscanf(ct_browser_eval(browser, script), "%lf", &value);
    return value;
}

static void mouse(const char *type, double x, double y)
{
    json_decref(ct_browser_command(browser, "Input.dispatchMouseEvent",
                                   json_pack("{s:s, s:f, s:f, s:s, s:i}", "type", type, "x", x, "y",
                                             y, "button", "left", "clickCount", 1)));
}

/* Waits until a flame graph is drawn as it is now, and scrolled so far. */
#define DRAWN(view, at)                                                                            \
    SAYS("new Promise((r) => { const look = () => (" view ".state.drawn?.rows === " view           \
         ".placed().rows.length && " view ".state.drawn.rows && " view ".state.drawn.top === " at  \
         " ? r(true) : setTimeout(look, 20)); look(); })",                                         \
         "true")

static void open_python(const char *tool, const char *kind)
{
    open_page(tool, kind);
    DRAWN(VIEW, "0");
}

/* A click at so many percent of the width, in a row that is in sight. */
static void click_at(int percent, int row)
{
    double x, y, w;
    ck_assert_int_eq(
        sscanf(ct_browser_eval(
                   browser, "(async () => { let before, now; do { before = now;"
                            " document.querySelector('#python .steps').scrollIntoView({ behavior:"
                            " 'instant' });"
                            " const r = document.querySelector('.flame').getBoundingClientRect();"
                            " now = `${r.x} ${r.y} ${r.width}`;"
                            " await new Promise(requestAnimationFrame); } while (now !== before);"
                            " return now; })()"),
               "%lf %lf %lf", &x, &y, &w),
        3);
    x += w * percent / 100;
    y += (row + 0.5) * number_of(TALL);
    mouse("mouseMoved", x, y);
    mouse("mousePressed", x, y);
    mouse("mouseReleased", x, y);
}

START_TEST(stacks_are_a_flame_graph)
{
    open_python(PYTHON);
    SAYS(SECTIONS, "summary kernels python timeline streams copies calls trust");
    SAYS(ROWS(VIEW),
         "All GPU work 100; <module> 90, by no known line 10; ⋯ 2 frames 90; run 90;"
         " loop 70, loop 20; step 60, step 10, ⋯ 2 frames 20;"
         " Net.forward 40, Net.forward 20, AdamW.step 10, linear 20;"
         " linear 40, softmax 20, adam 10, gemm 20; gemm 40");
    SAYS("document.querySelector('#python .note').textContent",
         "10.0% of the GPU time was launched by no known line.");
    /* A kernel has the colour of its row, a frame that of its kind. */
    SAYS(
        "(() => {"
        " const c = document.querySelector('.flame'), all = c.getContext('2d')"
        ".getImageData(0, 0, c.width, c.height).data;"
        " const at = (part, row) => { const i = 4 * (Math.floor((row + 0.5) *" TALL
        ") * c.width + Math.floor(c.width * part)); return [...all.slice(i, i + 3)]"
        ".map((v) => v.toString(16).padStart(2, '0')).join(''); };"
        " return [`#${at(0.3, 8)}` === theme.colour('k0'), `#${at(0.5, 7)}` === theme.colour('k1'),"
        " `#${at(0.3, 4)}` === theme.colour('frame'), `#${at(0.3, 7)}` ==="
        " theme.colour('frame-library')].join(); })()",
        "true,true,true,true");
    SAYS("document.documentElement.scrollWidth <= innerWidth", "true");
    QUIET();
}
END_TEST

START_TEST(flame_graph_zooms_by_clicks)
{
    open_python(PYTHON);
    click_at(75, 4); /* loop:62 */
    SAYS(ROWS(VIEW), "All GPU work 100; loop 100; evaluate 100; Net.forward 100; linear 100;"
                     " gemm 100");
    SAYS(STEPS, "All > … > main train.py:80 > run train.py:70 > loop train.py:62");
    click_at(50, 1); /* its row again */
    SAYS(ROW(VIEW, "1"), "<module>, by no known line");
    click_at(50, 2); /* the frames that are folded */
    SAYS(ROW(VIEW, "2") " + ', ' + " ROW(VIEW, "3"), "entry, main");
    click_at(10, 5);
    SAYS(STEPS, "All > … > main train.py:80 > run train.py:70 > loop train.py:60");
    ck_assert(ct_browser_click(browser, "#python .steps button:nth-of-type(3)"));
    SAYS(ROW(VIEW, "1"), "main");
    click_at(50, 0); /* the whole */
    SAYS(ROW(VIEW, "1"), "<module>, by no known line");
    /* A kernel does not zoom; it leads to its row. */
    click_at(50, 8);
    SAYS(STEPS, "All");
    SAYS(DETAILS ".includes('softmax Time 200 µs of GPU time 20% Launches 20 Launched by"
                 " Net.forward model.py:14')",
         "true");
    ck_assert(ct_browser_click(browser, "#python .chosen button"));
    SAYS("document.querySelector('#kernels tr.row.open .text').textContent", "softmax");
    QUIET();
}
END_TEST

START_TEST(flame_graph_has_keys)
{
    open_python(PYTHON);
    FOCUS();
    for (int i = 0; i < 5; i++)
        ct_browser_press(browser, "ArrowDown");
    SAYS(DETAILS, "loop /home/me/train.py:60 Time 700 µs of GPU time 70% Launches 70");
    ct_browser_press(browser, "ArrowRight");
    SAYS(DETAILS, "loop /home/me/train.py:62 Time 200 µs of GPU time 20% Launches 20");
    SAYS("document.getElementById('said').textContent",
         "loop /home/me/train.py:62: Time 200 µs, of GPU time 20%, Launches 20");
    ct_browser_press(browser, "Enter");
    SAYS(ROW(VIEW, "1"), "loop");
    ct_browser_press(browser, "ArrowDown");
    ct_browser_press(browser, "Enter");
    SAYS(ROW(VIEW, "1"), "evaluate");
    ct_browser_press(browser, "Escape");
    SAYS(ROW(VIEW, "1"), "loop");
    ct_browser_press(browser, "Escape");
    SAYS(ROW(VIEW, "1"), "<module>, by no known line");
    ct_browser_press(browser, "/");
    SAYS("document.activeElement === document.querySelector('#python .search')", "true");
    QUIET();
}
END_TEST

#define FOUND "document.querySelector('#python .bar [role=status]').textContent"

/* A frame inside another that is found counts once. */
START_TEST(flame_graph_is_searched)
{
    open_python(PYTHON);
    ck_assert(ct_browser_click(browser, "#python .search"));
    ct_browser_type(browser, "FORWARD");
    SAYS(FOUND, "80% of the time in 3 calls");
    ck_assert(ct_browser_click(browser, "#python [data-value=count]"));
    SAYS(FOUND, "80% of the launches in 3 calls");
    SAYS("document.querySelector('#python .search').select()", "undefined");
    ct_browser_type(browser, "train.py");
    SAYS(FOUND, "90% of the launches in 9 calls");
    SAYS("document.querySelector('#python .search').select()", "undefined");
    ct_browser_type(browser, "nobody");
    SAYS(FOUND, "nothing found");
    QUIET();
}
END_TEST

/* By launches that are as long as they are in this run. */
START_TEST(flame_graph_counts_launches)
{
    open_python("tests/page/make_page_profile", "python-edited");
    SAYS(ROW(VIEW, "4") " + ' ' + Math.round(100 * " VIEW ".placed().rows[4][1].w / " VIEW
                        ".placed().rows[0][0].w)",
         "loop, loop 14");
    ck_assert(ct_browser_click(browser, "#python [data-value=count]"));
    SAYS(ROW(VIEW, "4") " + ' ' + Math.round(100 * " VIEW ".placed().rows[4][1].w / " VIEW
                        ".placed().rows[0][0].w)",
         "loop, loop 20");
    QUIET();
}
END_TEST

/* The tooltip of a frame that the mouse is over. */
START_TEST(flame_graph_tells_of_frames)
{
    open_python(PYTHON);
    click_at(10, 0);
    mouse("mouseMoved",
          number_of("document.querySelector('.flame').getBoundingClientRect().x") + 10,
          number_of("document.querySelector('.flame').getBoundingClientRect().y +"
                    " 7.5 * " TALL));
    SAYS("document.getElementById('tip').hidden", "false");
    SAYS("document.getElementById('tip').innerText.replaceAll(/\\s+/g, ' ')",
         "linear /usr/lib/python3.11/site-packages/nn/functional.py:5 Time 400 µs of GPU time 40%"
         " Launches 40");
    QUIET();
}
END_TEST

/* Rows are as wide as in a report of lines. */
START_TEST(lines_are_a_table)
{
    open_python(PYTHON);
    SAYS("document.querySelector('#python .small:last-child').textContent",
         "13 lines; a row opens to the operations below it");
    SAYS(CELLS("0"), "90.00%|900 µs|-|90|<module> train.py:90");
    ck_assert(ct_browser_click(browser, "#python th[data-key=own] button"));
    SAYS(CELLS("0"), "60.00%|600 µs|600 µs|60|linear functional.py:5");
    SAYS(CELLS("1"), "20.00%|200 µs|200 µs|20|Net.forward model.py:14");
    ck_assert(ct_browser_click(browser, "#python input[placeholder^=Filter]"));
    ct_browser_type(browser, "step train.py:50");
    SAYS("document.querySelectorAll('#python tr.row').length", "1");
    ck_assert(ct_browser_click(browser, "#python tr.row .opener"));
    SAYS(COMES("#python tr.detail tbody tr", "2"), "2");
    SAYS("[...document.querySelectorAll('#python tr.detail tbody tr')].map((r) =>"
         " [...r.children].map((c) => c.textContent).join('|')).join('; ')",
         "67%|400 µs|40|gemm; 33%|200 µs|20|softmax");
    ck_assert(ct_browser_click(browser, "#python tr.detail button"));
    SAYS(FOUND, "60% of the time in 1 call");
    QUIET();
}
END_TEST

/* As the report `lines` has it: a line that calls itself, times without a duration, a graph. */
START_TEST(lines_are_those_of_the_report)
{
    open_python("tests/golden/make_profile", "stacks");
    run("cd %s && %s/cutrace-report lines --format csv stacks.bin 2>/dev/null | tr -d '\"' | sed "
        "'s/.x3b/;/' |"
        " awk -F, 'NR > 1 { printf \"%%s%%s|%%d|%%d|%%d|%%s\", (NR > 2 ? \";\" : \"\"),"
        " $1, $2, $3, $4, $7 }' >lines",
        dir, top);
    char path[128], expected[1024] = "";
    snprintf(path, sizeof(path), "%s/lines", dir);
    FILE *lines = fopen(path, "r");
    ck_assert(lines && fgets(expected, sizeof(expected), lines));
    fclose(lines);
    SAYS("(() => { const { tree } = python.current(); return stacks.byLine(tree)"
         ".map((s, i) => ({ ...s, line: tree.lines[i] })).sort((a, b) => b.ns.all - a.ns.all)"
         ".map((s) => [(100 * s.ns.all / tree.values.ns[0]).toFixed(2), s.ns.all, s.ns.own,"
         " s.count.all, s.line.function].join('|')).join(';'); })()",
         expected);
    SAYS("document.querySelector('#python .note').textContent",
         "9.1% of the GPU time was launched by no known line."
         " A CUDA graph counts for the line that launched it.");
    QUIET();
}
END_TEST

#define LAUNCHED                                                                                   \
    "[...document.querySelectorAll('#kernels tr.detail .across tbody tr')].map((r) =>"             \
    " [...r.children].map((c) => c.textContent).join('|')).join('; ')"

START_TEST(kernels_tell_who_launched_them)
{
    open_python(PYTHON);
    ck_assert(ct_browser_click(browser, "#kernels tr.row:nth-child(1) .opener"));
    SAYS(COMES("#kernels tr.detail .across tbody tr", "3"), "3");
    SAYS(LAUNCHED, "100%|600 µs|60|linear functional.py:5 ← Net.forward model.py:12;"
                   " 67%|400 µs|40|← step train.py:50 ← loop train.py:60 ← run train.py:70 ←"
                   " 2 lines more ← <module> train.py:90;"
                   " 33%|200 µs|20|← evaluate train.py:40 ← loop train.py:62 ← run train.py:70 ←"
                   " 2 lines more ← <module> train.py:90");
    ck_assert(ct_browser_click(browser, "#kernels tr.detail .whole button:last-child"));
    SAYS(FOUND, "60% of the time in 2 calls");
    ck_assert(ct_browser_click(browser, "#kernels tr.row:nth-child(1) .opener"));
    ck_assert(ct_browser_click(browser, "#kernels tr.row:nth-child(2) .opener"));
    SAYS(COMES("#kernels tr.detail .across tbody tr", "1"), "1");
    SAYS("document.querySelector('#kernels tr.detail .across .small').textContent",
         "33% from no known line.");
    QUIET();
}
END_TEST

/* Boxes are as many as pixels at most; the rows that are not in sight wait for it. */
START_TEST(many_stacks_fit)
{
    open_python("tests/page/make_page_profile", "python-many");
    SAYS("python.current().tree.n > 10000", "true");
    SAYS(VIEW ".placed().rows.flat().every((b) => b.w >= 1)", "true");
    SAYS(VIEW ".placed().rows.every((r) => r.every((b, i) => !i || b.x >= r[i - 1].x + r[i - 1].w"
              " - 0.001))",
         "true");
    SAYS(VIEW ".placed().rows.flat().length < 2000", "true");
    SAYS(VIEW ".placed().rows.flat().some((b) => b.more)", "true");
    /* A function that calls itself is one row until it is asked for. */
    SAYS(ROW(VIEW, "3") ".startsWith('⋯ ')", "true");
    SAYS(VIEW ".placed().height < 2000", "true");
    click_at(2, 3);
    SAYS(VIEW ".placed().height > 5000", "true");
    SAYS("(() => { const s = document.querySelector('#python .stage');"
         " return s.clientHeight <= 0.6 * innerHeight && s.scrollHeight > 5000 &&"
         " document.querySelector('.flame').clientHeight <= s.clientHeight; })()",
         "true");
    /* Further down in the stage are other rows. */
    ct_browser_eval(browser, "document.querySelector('#python .stage').scrollTop = 4000");
    DRAWN(VIEW, "4000");
    SAYS("document.querySelector('.flame').getContext('2d').getImageData(4, 50 *"
         " devicePixelRatio, 1, 1).data[3]",
         "255");
    SAYS("document.querySelector('#python .under').textContent",
         "Show 1,000 of 9,8029,792 more rows");
    ck_assert(ct_browser_click(browser, "#python .under button"));
    SAYS("document.querySelectorAll('#python tr.row').length", "1000");
    SAYS("document.querySelector('#python .under').textContent", "Show 108,802 more rows");
    click_at(1, 3);
    SAYS(VIEW ".state.root > 0 && document.querySelector('#python .stage').scrollTop === 0",
         "true");
    QUIET();
}
END_TEST

/* A line that something leads to is shown even where it is behind those. */
START_TEST(a_line_far_down_is_shown)
{
    open_python(PYTHON);
    SAYS("(() => { const lines = Array.from({ length: 1500 }, (_, index) => ({ index, name:"
         " `line ${index}`, short: `line ${index}`, colour: 'set' }));"
         " const t = table.create({ label: 'Lines', lines, inside: () => '', sorted: 'name',"
         " order: (l) => l.index, columns: [{ key: 'name', title: 'Name', sort: (l) => l.index,"
         " opener: true }] }); document.body.append(t.element); t.reveal(lines[1400]);"
         " return [...t.element.querySelectorAll('tr.row.open')].map((r) => r.textContent)"
         ".join(); })()",
         "line 1400");
    QUIET();
}
END_TEST

START_TEST(flame_graph_fits_narrow_windows)
{
    static const int widths[] = {800, 360};
    for (int i = 0; i < 2; i++) {
        resize(widths[i], 900);
        open_python(PYTHON);
        SAYS("document.documentElement.scrollWidth <= innerWidth", "true");
        SAYS(VIEW ".placed().rows[0][0].w === document.querySelector('.flame').clientWidth",
             "true");
        SAYS("document.querySelector('.flame').clientWidth > innerWidth - 60", "true");
    }
    resize(0, 0);
    QUIET();
}
END_TEST

/* Times by line are not those of raw brackets, which nobody else launched a part of. */
START_TEST(raw_times_have_no_rest)
{
    open_python("tests/page/make_page_profile", "python-edited");
    run("cd %s && %s/cutrace-report --raw --format html -o raw.html python-edited.bin", dir, top);
    open_file("raw.html");
    SAYS("document.querySelector('#python .note').textContent",
         "7.1% of the GPU time was launched by no known line."
         " Times by line are those of the operations, not raw brackets.");
    ck_assert(ct_browser_click(browser, "#kernels tr.row:nth-child(1) .opener"));
    SAYS(COMES("#kernels tr.detail .across tbody tr", "3"), "3");
    SAYS("document.querySelector('#kernels tr.detail .across .small') === null", "true");
    SAYS(LAUNCHED ".slice(0, 22)", "100%|1.00 ms|60|linear");
    QUIET();
}
END_TEST

/* A program in Python is told how to record them, others are not. */
START_TEST(without_stacks_nothing_is_there)
{
    open_torch();
    SAYS("document.querySelector('#python') === null && python.current() === null", "true");
    SAYS("document.querySelector('#kernels > p.small').textContent",
         "From which lines these were launched: cutrace --stacks python");
    ck_assert(ct_browser_click(browser, "#kernels tr.row .opener"));
    SAYS(COMES("#kernels tr.detail .whole", "1"), "1");
    SAYS("document.querySelector('#kernels tr.detail').textContent.includes('Launched from')",
         "false");
    open_page("tests/golden/make_profile", "basic");
    SAYS("document.querySelector('#kernels > p.small') === null", "true");
    QUIET();
}
END_TEST

START_TEST(hostile_stacks_are_inert)
{
    open_python("tests/page/make_page_profile", "hostile");
    ct_browser_eval(browser, "document.querySelectorAll('#python .opener').forEach((b) =>"
                             " b.click())");
    SAYS(COMES("#python tr.detail .whole", "10"), "10");
    FOCUS();
    for (int i = 0; i < 5; i++)
        ct_browser_press(browser, "ArrowDown");
    SAYS("window.hacked", "undefined");
    SAYS("document.querySelectorAll('main img, main script, main b b, main body').length", "0");
    SAYS("document.querySelector('#python').textContent.includes('<img src=x onerror')", "true");
    QUIET();
}
END_TEST

static void open_changes(const char *before, const char *after)
{
    open_page("tests/page/make_page_profile", before);
    open_page("tests/page/make_page_profile", after);
    run("cd %s && %s/cutrace-report diff %s.bin %s.bin --format html -o changes.html", dir, top,
        before, after);
    open_file("changes.html");
}

/* Sized by the new run, coloured by the change; lines that moved are not new ones. */
START_TEST(two_runs_have_a_flame_graph)
{
    open_changes("python", "python-edited");
    DRAWN(CHANGES, "0");
    SAYS(SECTIONS, "changes python modules calls trust");
    SAYS(ROWS(CHANGES),
         "All GPU work 100; <module> 93, by no known line 7; ⋯ 2 frames 93; run 93;"
         " loop 79, loop 14; step 71, step 7, ⋯ 2 frames 14;"
         " Net.forward 57, Net.forward 14, SGD.step 7, linear 14;"
         " linear 57, softmax 14, sgd 7, gemm 14; gemm 57");
    SAYS("[[8, 0, 'k7'], [7, 1, 'frame-flat'], [6, 2, 'k1'], [7, 3, 'frame-flat']]"
         ".map(([row, n, colour]) => theme.colour(" CHANGES ".look(" CHANGES
         ".placed().rows[row][n]).colour) === theme.colour(colour)).join()",
         "true,true,true,true");
    ck_assert(ct_browser_click(browser, "#python [data-value=before]"));
    SAYS(ROW(CHANGES, "6"), "Net.forward, Net.forward, AdamW.step, linear");
    QUIET();
}
END_TEST

START_TEST(two_runs_have_a_table_of_lines)
{
    open_changes("python", "python-edited");
    DRAWN(CHANGES, "0");
    SAYS("[...document.querySelectorAll('#python tr.row')].map((r) => [...r.children].map((c) =>"
         " c.textContent).join('|')).find((t) => t.includes('linear'))",
         "+400 µs|+66.7%|+400 µs|600 µs|1.00 ms|60|linear functional.py:5");
    SAYS("[...document.querySelectorAll('#python tr.row')].map((r) => [...r.children].map((c) =>"
         " c.textContent).join('|')).find((t) => t.includes('Net.forward'))",
         "+400 µs|+66.7%|-|600 µs|1.00 ms|60|Net.forward model.py:42");
    ck_assert(ct_browser_click(browser, "#python input[placeholder^=Filter]"));
    ct_browser_type(browser, "step");
    SAYS("[...document.querySelectorAll('#python tr.row')].map((r) => r.textContent).join('; ')",
         "+400 µs+66.7%-600 µs1.00 ms60step train.py:50;"
         " +100 µs-+100 µs-100 µs0 → 10SGD.step optim.py:9;"
         " −100 µs−100%−100 µs100 µs-10 → 0AdamW.step optim.py:9;"
         " 0 ns0.0%-100 µs100 µs10step train.py:51");
    SAYS("document.querySelector('#python input[placeholder^=Filter]').select()", "undefined");
    ct_browser_type(browser, "forward");
    ck_assert(ct_browser_click(browser, "#python tr.row .opener"));
    SAYS(COMES("#python tr.detail tbody tr", "1"), "1");
    SAYS("document.querySelector('#python tr.detail code').textContent",
         "Net.forward /home/me/new/model.py:42\nwas /home/me/model.py:12");
    SAYS("[...document.querySelector('#python tr.detail tbody tr').children].map((c) =>"
         " c.textContent).join('|')",
         "+400 µs|600 µs|1.00 ms|60|gemm");
    QUIET();
}
END_TEST

#define MODULES                                                                                    \
    "[...document.querySelectorAll('#modules tr.row')].map((r) => [...r.children].map((c) =>"      \
    " c.textContent).join('|')).join('; ')"

/* Modules in one run alone are there, and are said. */
START_TEST(two_runs_have_a_table_of_modules)
{
    open_changes("python", "python-edited");
    SAYS(MODULES, "+400 µs|+50.0%|-|800 µs|1.20 ms|80|Net; "
                  "+400 µs|+66.7%|+400 µs|600 µs|1.00 ms|60|Net/Linear; "
                  "−200 µs|−100%|−200 µs|200 µs|-|20 → 0|Net/Attention; "
                  "+200 µs|-|+200 µs|-|200 µs|0 → 20|Net/FlashAttention");
    SAYS("document.querySelector('#modules .note').textContent.split('; ')[1]",
         "1 of 4 modules launched in the old run alone, 1 in the new one alone.");
    ck_assert(ct_browser_click(browser, "#modules tr.row .opener"));
    SAYS(COMES("#modules tr.detail tbody tr", "3"), "3");
    SAYS("[...document.querySelectorAll('#modules tr.detail tbody tr')].map((r) => [...r.children]"
         ".map((c) => c.textContent).join('|')).join('; ')",
         "+400 µs|600 µs|1.00 ms|60|Linear; −200 µs|200 µs|-|20 → 0|Attention;"
         " +200 µs|-|200 µs|0 → 20|FlashAttention");
    ck_assert(ct_browser_click(browser, "#modules tr.detail tbody button"));
    SAYS("document.querySelectorAll('#modules tr.row.open').length", "2");
    SAYS("[...document.querySelectorAll('#modules tr.detail .small')].map((p) => p.textContent)"
         ".join()",
         "No module in it launched anything.");
    QUIET();
}
END_TEST

START_TEST(one_run_with_stacks_is_not_compared)
{
    open_changes("torch", "python");
    SAYS(SECTIONS, "changes calls trust");
    QUIET();
}
END_TEST

void add_python_tests(TCase *tests)
{
    tcase_add_test(tests, stacks_are_a_flame_graph);
    tcase_add_test(tests, flame_graph_zooms_by_clicks);
    tcase_add_test(tests, flame_graph_has_keys);
    tcase_add_test(tests, flame_graph_is_searched);
    tcase_add_test(tests, flame_graph_counts_launches);
    tcase_add_test(tests, flame_graph_tells_of_frames);
    tcase_add_test(tests, lines_are_a_table);
    tcase_add_test(tests, lines_are_those_of_the_report);
    tcase_add_test(tests, kernels_tell_who_launched_them);
    tcase_add_test(tests, many_stacks_fit);
    tcase_add_test(tests, a_line_far_down_is_shown);
    tcase_add_test(tests, flame_graph_fits_narrow_windows);
    tcase_add_test(tests, raw_times_have_no_rest);
    tcase_add_test(tests, without_stacks_nothing_is_there);
    tcase_add_test(tests, hostile_stacks_are_inert);
    tcase_add_test(tests, two_runs_have_a_flame_graph);
    tcase_add_test(tests, two_runs_have_a_table_of_lines);
    tcase_add_test(tests, two_runs_have_a_table_of_modules);
    tcase_add_test(tests, one_run_with_stacks_is_not_compared);
}
