/* SPDX-License-Identifier: MIT */
/* Hostile texts in every place of a file that is printed: none reaches a terminal or a spreadsheet.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "build_file.h"
#include "case_main.h"
#include "format/read.h"
#include "oracle.h"
#include "report/names.h"
#include "report/profile/merge.h"
#include "report/reports/summary.h"

static const char *const texts[] = {
    "\033[31mred",
    "\033]0;title\a",
    "\033P+q544e\033\\",
    "\2332J",     /* CSI in eight bits */
    "\302\2332J", /* the same as UTF-8 */
    "a\nb",       /* a line of its own */
    "\n==1== Warning: none",
    "\r======== Profiling result:",
    "a\b\b\b\x7f",
    "\t=1+1",
    "\360\237\230",     /* cut */
    "\300\200",         /* a long way to say NUL */
    "\355\240\200",     /* half a surrogate pair */
    "\364\220\200\200", /* beyond Unicode */
    "abc\u202edef\u202c",
    "abc\u2066def\u2069",
    "a\u200bb\u200db\u2060b\ufeffb\u00adb\u061cb\u180eb\u3164b",
    "a\u2028b\u2029b\U000e0041b",
    "=1+1",
    "=cmd|' /C calc'!A0",
    "+1",
    "-1",
    "@SUM(A1)",
    "  =1",
    "\uff1d1",
    "\"=1+1",
    "\",=1+1,\"",
    "a,=1",
    "a, =1",
    "a,\"=1",
    "a,'=1",
    "a;=1",
    "a; \"=1;\"",
    "a;\"b",
    "a,\"b",
    "f(int, \"x\")",
    ";",
    ",",
    "\"",
    "'",
    "_Z4=cmdv",
    "_Z5\033[31mv",
    "_Z7a\n==1==v",
    "_Z1fI4\u202e;Evv",
    "_Z3a;=v",
    "%s%n%99999d",
};

/* The text wherever a file has one; rows of each kind, so that all tables are there. */
static void fill(struct ct_build *b, const char *text)
{
    uint32_t at = ct_build_text(b, text);
    struct ct_file_device device = {.name = at};
    struct ct_file_row kernel = ct_build_row(CT_ROW_KERNEL, 0, 0, at);
    struct ct_file_row graph = ct_build_row(CT_ROW_GRAPH, 1, 0, at);
    struct ct_file_process process = {.pid = 1, .command = at, .host = at};
    struct ct_file_shape shape = {{1, 1, 1}, {1, 1, 1}, 0, 1};
    static const uint64_t ns[] = {1000, 2000};
    ct_build_add(b, CT_SECTION_PROCESS, &process);
    ct_build_add(b, CT_SECTION_DEVICES, &device);
    ct_build_time(&kernel, 500);
    kernel.doubt_ns = 500; /* uncertain: named once more */
    kernel.marked = kernel.errors = 1;
    kernel.lost[CT_LOSS_SAMPLED] = 3;
    kernel.estimated = 4;
    kernel.estimated_ns = 2000;
    kernel.variance_ns2 = 100;
    kernel.shape_first = ct_build_add(b, CT_SECTION_SHAPES, &shape);
    kernel.shape_count = 1;
    ct_build_add(b, CT_SECTION_ROWS, &kernel);
    ct_build_time(&graph, 7000);
    struct ct_file_node node = {
        .graph_row = ct_build_add(b, CT_SECTION_ROWS, &graph), .name = at, .count = 1};
    ct_build_add(b, CT_SECTION_NODES, &node);
    ct_build_api(b, text, ns, 2);
    for (uint32_t kind = CT_NOTE_WARNING; kind <= CT_NOTE_NOT_WRAPPED; kind++) {
        struct ct_file_note note = {kind, at, 2};
        ct_build_add(b, CT_SECTION_NOTES, &note);
    }
}

static void check_print(const struct ct_summary *s, const struct ct_options *o)
{
    struct ct_merged m = {.details = o->details};
    char *text;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    ct_merge_add(&m, s);
    ct_report_print(out, &m, o);
    ck_assert_int_eq(fclose(out), 0);
    const char *wrong = oracle_complaint(text, len, o->csv);
    ck_assert_msg(!wrong, "%s in:\n%s", wrong, text);
    ct_merge_free(&m);
    free(text);
}

START_TEST(names_in_a_file)
{
    char path[CT_CASE_PATH], *files[] = {path, NULL};
    struct ct_summary s = {0};
    struct ct_read_error error;
    struct ct_build b;
    ct_build_start(&b);
    fill(&b, texts[_i]);
    ct_case_template(path);
    close(mkstemp(path));
    ck_assert(ct_build_save(&b, path));
    ck_assert_msg(!ct_summary_read(&s, path, &error), "%s", error.text);
    for (unsigned bits = 0; bits < 64; bits++)
        check_print(&s, &(struct ct_options){.csv = (bits & 3) == 1,
                                             .details = (bits & 3) == 2,
                                             .live = bits & 4,
                                             .per = bits & 8 ? CT_PER_GPU : CT_PER_NONE,
                                             .mangled = bits & 16,
                                             .raw = bits & 32,
                                             .files = files,
                                             .file_count = 1});
    unlink(path);
    ct_summary_free(&s);
    ct_build_free(&b);
}
END_TEST

static void expect_refusal(struct ct_build *b, const char *words)
{
    char path[CT_CASE_PATH];
    struct ct_summary s = {0};
    struct ct_read_error error;
    ct_case_template(path);
    close(mkstemp(path));
    ck_assert(ct_build_save(b, path));
    ck_assert_int_lt(ct_summary_read(&s, path, &error), 0);
    ck_assert_str_eq(error.text, words);
    unlink(path);
    ct_summary_free(&s);
    ct_build_free(b);
}

/* Each end of a long string would be a string of its own: 10 MB of file could be terabytes of text.
 */
START_TEST(parts_of_strings)
{
    struct ct_build b;
    ct_build_start(&b);
    ct_build_process(&b, 1, "app");
    struct ct_file_note note = {CT_NOTE_WARNING, ct_build_text(&b, "a long story") + 2, 1};
    ct_build_add(&b, CT_SECTION_NOTES, &note);
    expect_refusal(&b, "is damaged: the text of a note is out of bounds");
}
END_TEST

/* So could one long string that all elements share. */
START_TEST(strings_that_repeat)
{
    struct ct_build b;
    char *text = calloc(1, 100001);
    memset(text, 'x', 100000);
    ct_build_start(&b);
    ct_build_process(&b, 1, "app");
    struct ct_file_note note = {CT_NOTE_WARNING, ct_build_text(&b, text), 1};
    for (note.kind = 0; note.kind < 200; note.kind++)
        ct_build_add(&b, CT_SECTION_NOTES, &note);
    expect_refusal(&b, "is damaged: its texts repeat too often");
    free(text);
}
END_TEST

/* The path of the profile at the end of a program. */
START_TEST(name_of_the_file)
{
    char path[2 * CT_CASE_PATH], *files[] = {path, NULL};
    snprintf(path, sizeof(path), "%s/unit_hostile \033[31m\n,=1;=2", ct_case_directory);
    struct ct_summary s = {0};
    struct ct_read_error error;
    struct ct_build b;
    ct_build_start(&b);
    ct_build_process(&b, 1, "app");
    ck_assert(ct_build_save(&b, files[0]));
    ck_assert_msg(!ct_summary_read(&s, files[0], &error), "%s", error.text);
    for (int csv = 0; csv < 2; csv++)
        check_print(
            &s, &(struct ct_options){.csv = csv, .live = true, .files = files, .file_count = 1});
    unlink(files[0]);
    ct_summary_free(&s);
    ct_build_free(&b);
}
END_TEST

/* What people write stays what it is. */
START_TEST(harmless_texts_are_kept)
{
    static const char *const kept[] = {
        "gemm<float, 4>(int*)", "größe", "核函数", "ядро", "🚀", "a b\\c", "~!#$%^&*()", ""};
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
        struct ct_string out = {0};
        ct_name_safe(&out, kept[i]);
        ck_assert_str_eq(out.data, kept[i]);
        ct_string_free(&out);
    }
}
END_TEST

/* Every character that the oracle has a word against, and each byte alone. */
START_TEST(every_character)
{
    for (uint32_t c = 1; c < 0x110000; c += c < 0x30000 || c >= 0xe0000 ? 1 : 97) {
        char text[8] = {(char)c};
        struct ct_string out = {0};
        if (c >= 0x80 && c < 0x100)
            ct_name_safe(&out, text); /* a byte that is no character */
        if (c >= 0x80)
            snprintf(text, sizeof(text), "%c%c%c%c", (int)(0xf0 | c >> 18),
                     (int)(0x80 | (c >> 12 & 63)), (int)(0x80 | (c >> 6 & 63)),
                     (int)(0x80 | (c & 63)));
        if (c >= 0x80 && c < 0x800)
            snprintf(text, sizeof(text), "%c%c", (int)(0xc0 | c >> 6), (int)(0x80 | (c & 63)));
        else if (c >= 0x800 && c < 0x10000)
            snprintf(text, sizeof(text), "%c%c%c", (int)(0xe0 | c >> 12),
                     (int)(0x80 | (c >> 6 & 63)), (int)(0x80 | (c & 63)));
        ct_name_safe(&out, text);
        ct_string_put(&out, "\n");
        const char *wrong = oracle_complaint(out.data, out.len, false);
        if (wrong)
            ck_abort_msg("U+%04x: %s", c, wrong);
        ct_string_free(&out);
    }
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("hostile");
    tcase_add_loop_test(tests, names_in_a_file, 0, sizeof(texts) / sizeof(texts[0]));
    tcase_add_test(tests, parts_of_strings);
    tcase_add_test(tests, strings_that_repeat);
    tcase_add_test(tests, name_of_the_file);
    tcase_add_test(tests, harmless_texts_are_kept);
    tcase_add_test(tests, every_character);
    return ct_case_main("hostile", tests);
}
