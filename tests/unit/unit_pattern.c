/* SPDX-License-Identifier: MIT */
/* Patterns of kernels' names: as people write them, shell patterns, regular expressions. */
#include <string.h>

#include "base/expression.h"
#include "base/pattern.h"
#include "base/plain_name.h"
#include "case_main.h"

static const struct {
    const char *mangled, *spelled;
} names[] = {
    {"saxpy", "saxpy"},
    {"_Z5saxpyifPKfPf", "saxpy"},
    {"_ZN2at6native18reduce_block_tableILi512EfEEvPT0_",
     "at::native::reduce_block_table<512, float>"},
    {"_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FUNCTOR_addIfEESt5arrayIPcLm3EEEEviT0_"
     "T1_",
     "at::native::vectorized_elementwise_kernel<4, FUNCTOR_add<float>, std::array<char, 3>>"},
    {"_ZN7cutlass6KernelINS_4gemm6device4GemmILb1EEEEEvNT_6ParamsE",
     "cutlass::Kernel<gemm::device::Gemm<1>>"},
    {"_ZN12_GLOBAL__N_13runEv", "(anonymous namespace)::run"},
    {"_Z3mapIZN1a1bEvEUlfE_EvT_", "map<a::b{lambda}>"},
    {"_Z3setILi"
     "n1EEvv",
     "set<-1>"},
    {"_ZN2atIL2at4KindE3E1xEv", NULL}, /* wrong: whatever comes out, it ends */
    {"_Z", ""},
    {"_Z99999999999a", "a"},
};

START_TEST(spelled)
{
    char room[512];
    struct ct_text t = ct_text_in(room, sizeof(room));
    ct_plain_name(&t, names[_i].mangled);
    if (names[_i].spelled)
        ck_assert_str_eq(t.data, names[_i].spelled);
}
END_TEST

/* No beginning of a name, and no name that goes on and on, is read beyond. */
START_TEST(any_bytes)
{
    static char deep[4096];
    char room[64];
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        for (size_t len = 0; len <= strlen(names[i].mangled); len++) {
            char *cut = strndup(names[i].mangled, len);
            struct ct_text t = ct_text_in(room, sizeof(room));
            ct_plain_name(&t, cut);
            free(cut);
        }
    }
    memset(deep, 'N', sizeof(deep) - 1);
    memcpy(deep, "_Z", 2);
    struct ct_text t = ct_text_in(room, sizeof(room));
    ct_plain_name(&t, deep);
    ck_assert_str_eq(t.data, "");
}
END_TEST

static const struct {
    const char *expression, *text;
    bool finds;
} expressions[] = {
    {"b", "abc", true},
    {"^b", "abc", false},
    {"c$", "abc", true},
    {"b$", "abc", false},
    {"a.c", "abc", true},
    {"a..c", "abc", false},
    {"ab*c", "ac", true},
    {"ab+c", "ac", false},
    {"ab+c", "abbbc", true},
    {"ab?c", "abbc", false},
    {"[b-d]+$", "abcd", true},
    {"^[^a]", "abc", false},
    {"[]a]", "]", true},
    {"a|x", "xyz", true},
    {"^(ab|a)c$", "ac", true},
    {"(ab)*c", "ababc", true},
    {"^(ab)+$", "aba", false},
    {"^(a|ab)(c|bcd)$", "abcd", true},
    {"a\\.b", "axb", false},
    {"a\\.b", "a.b", true},
    {"(a*)*b", "aaac", false},
    {"^(a?)?$", "", true},
    {"^x*$", "xxx", true},
    {"gemm_[0-9]+x[0-9]+", "s_gemm_64x32_tn", true},
    {"(x+x+)+y", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", false},
};

START_TEST(expression)
{
    ck_assert(ct_expression_finds(expressions[_i].expression, strlen(expressions[_i].expression),
                                  expressions[_i].text) == expressions[_i].finds);
}
END_TEST

START_TEST(no_expression)
{
    static const char *const wrong[] = {"(",   ")",  "a)",   "(a",  "[a", "*a",
                                        "a**", "\\", "((a)", "(*)", "a|+"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        ck_assert_msg(!ct_expression_is_one(wrong[i], strlen(wrong[i])), "%s", wrong[i]);
    ck_assert(ct_expression_is_one("", 0));
    ck_assert(!ct_pattern_is_one("", 0));
    ck_assert(ct_pattern_is_one("**", 2)); /* a shell pattern */
}
END_TEST

static const struct {
    const char *pattern;
    bool matches;
} patterns[] = {
    {"saxpy", true},    {"lib::saxpy", true}, {"axp", true},           {"lib", true},
    {"float", true},    {"double", false},    {"sax*", true},          {"lib::sax*", true},
    {"_ZN3lib*", true}, {"axp*", false},      {"*axp*", true},         {"^lib::", true},
    {"^saxpy", false},  {"sa.py<", true},     {"(daxpy|saxpy)", true}, {"_Z.*saxpy", true},
};

START_TEST(pattern)
{
    const char *p = patterns[_i].pattern;
    ck_assert(ct_pattern_is_one(p, strlen(p)));
    ck_assert_msg(ct_pattern_matches(p, strlen(p), "_ZN3lib5saxpyIfEEvT_", "lib::saxpy<float>") ==
                      patterns[_i].matches,
                  "%s", p);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("pattern");
    tcase_add_loop_test(tests, spelled, 0, sizeof(names) / sizeof(names[0]));
    tcase_add_test(tests, any_bytes);
    tcase_add_loop_test(tests, expression, 0, sizeof(expressions) / sizeof(expressions[0]));
    tcase_add_test(tests, no_expression);
    tcase_add_loop_test(tests, pattern, 0, sizeof(patterns) / sizeof(patterns[0]));
    return ct_case_main("pattern", tests);
}
