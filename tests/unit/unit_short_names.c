/* SPDX-License-Identifier: MIT */
/* Short names: what they keep, that different ones differ, in however few columns. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case_main.h"
#include "report/short_names.h"
#include "report/sinks/short_paths.h"
#include "report/terminal.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void expect(const char *const *full, const char *const *wanted, size_t count)
{
    char **names = ct_short_names(full, count);
    for (size_t i = 0; i < count; i++)
        ck_assert_str_eq(names[i], wanted[i]);
    ct_short_names_free(names, count);
}

START_TEST(last_component)
{
    static const char *const full[] = {
        "void at::native::reduce_kernel<512, 1>(at::native::R<float>)",
        "a::(anonymous namespace)::hidden(int)",
        "<unnamed>::other(void (*)(int))",
        "saxpy",
        "[CUDA memcpy HtoD]",
        "void space::made<(A)1, (b->c)>(int)",
        "",
    };
    static const char *const wanted[] = {"reduce_kernel",      "hidden", "other", "saxpy",
                                         "[CUDA memcpy HtoD]", "made",   ""};
    expect(full, wanted, COUNT(full));
}
END_TEST

START_TEST(arguments_where_they_differ)
{
    static const char *const full[] = {
        "void n::map<n::Add<float>, 4>(int)",
        "void n::map<n::Mul<float>, 4>(int)",
        "void n::fill<n::Mul<float>, 4>(int)",
    };
    static const char *const wanted[] = {"map<Add<float>, 4>", "map<Mul<float>, 4>", "fill"};
    expect(full, wanted, COUNT(full));
}
END_TEST

START_TEST(namespaces_and_the_whole)
{
    static const char *const full[] = {"x::f(int)", "y::f(int)", "void g(int)", "void g(float)"};
    static const char *const wanted[] = {"x::f", "y::f", "void g(int)", "void g(float)"};
    expect(full, wanted, COUNT(full));
}
END_TEST

START_TEST(long_ones_where_they_differ)
{
    static const char *const full[] = {
        "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_cublas",
        "sm90_xmma_gemm_bf16bf16_bf16f32_f32_nt_n_tilesize128x256x64_cublas",
    };
    static const char *const wanted[] = {"sm90_xmma\u2026tn_n_tilesize128x128x64_cublas",
                                         "sm90_xmma\u2026nt_n_tilesize128x256x64_cublas"};
    expect(full, wanted, COUNT(full));
}
END_TEST

/* A kernel of two shapes is two rows, and not two names. */
START_TEST(twice)
{
    static const char *const full[] = {"void a::k<int>(int)", "void a::k<int>(int)", "void b::m()"};
    static const char *const wanted[] = {"k", "k", "m"};
    expect(full, wanted, COUNT(full));
}
END_TEST

static void make(char *name, size_t bytes, unsigned i)
{
    static const char *const operations[] = {"Add", "Mul", "Sub", "\u00c4nd"};
    snprintf(name, bytes,
             "void at::native::vectorized_elementwise_kernel<%u, at::native::CUDAFunctor_%s<%s>, "
             "std::array<char *, (unsigned long)%u>>(int, float)",
             1 << i % 3, operations[i % 4], i % 5 ? "float" : "c10::BFloat16", i / 7);
}

/* Loop: the columns. */
START_TEST(fit_and_differ)
{
    static char text[200][256];
    const char *full[COUNT(text)];
    for (unsigned i = 0; i < COUNT(text); i++) {
        make(text[i], sizeof(text[i]), i);
        full[i] = text[i];
    }
    char **names = ct_short_names_in(full, COUNT(text), _i);
    for (size_t i = 0; i < COUNT(text); i++) {
        ck_assert_msg(ct_terminal_width(names[i]) <= _i, "%s in %d", names[i], _i);
        for (size_t j = 0; j < i; j++)
            ck_assert_msg(!strcmp(full[i], full[j]) == !strcmp(names[i], names[j]), "%s and %s: %s",
                          full[i], full[j], names[i]);
    }
    ct_short_names_free(names, COUNT(text));
}
END_TEST

/* Loop: the columns. The rest of the room is for the beginning, which says the kind. */
static const struct {
    int width;
    const char *shown[4];
} rooms[] = {
    {140,
     {"gemm 128x128x64 bf16 tn", "gemm 128x256x64 bf16 nt", "elementwise<CUDAFunctor_add>",
      "elementwise<MulFunctor>"}},
    {23,
     {"gemm 128x128x64 bf16 tn", "gemm 128x256x64 bf16 nt", "elementwise<CU\u2026tor_add>",
      "elementwise<MulFunctor>"}},
    {16,
     {"gemm 128x1\u202616 tn", "gemm 128x2\u202616 nt", "elementwis\u2026_add>",
      "elementwis\u2026ctor>"}},
};

START_TEST(in_room)
{
    static const char *const full[] = {
        "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_cublas",
        "sm90_xmma_gemm_bf16bf16_bf16f32_f32_nt_n_tilesize128x256x64_cublas",
        "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
        "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<float>)",
        "void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<float, float, "
        "float, at::native::binary_internal::MulFunctor<float> >, std::array<char*, 3ul> >(int)",
    };
    char **names = ct_short_names_in(full, COUNT(full), rooms[_i].width);
    for (size_t i = 0; i < COUNT(full); i++)
        ck_assert_str_eq(names[i], rooms[_i].shown[i]);
    ct_short_names_free(names, COUNT(full));
}
END_TEST

/* Names of cuBLAS, cuDNN, CUTLASS and nvjet. */
static const struct {
    const char *full, *shown;
} products[] = {
    {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_"
     "segment_k_off_kernel__5x_cublas",
     "gemm 128x128x64 bf16 tn"},
    {"ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x3_tn", "gemm 128x64 bf16 tn"},
    {"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x64x8_stage3_warpsize2x2x1_ffma_aligna4_"
     "alignc4_execute_split_k_kernel__5x_cublas",
     "gemm 128x64x8 f32 tn split-k"},
    {"ampere_sgemm_128x64_nn", "sgemm 128x64 nn"},
    {"void cutlass::Kernel2<cutlass_80_tensorop_f16_s16816gemm_relu_f16_64x64_64x6_tn_align8>"
     "(cutlass_80_tensorop_f16_s16816gemm_relu_f16_64x64_64x6_tn_align8::Params)",
     "gemm 64x64 f16 tn"},
    {"nvjet_tst_128x256_64x4_1x2_h_bz_coopA_NNT", "nvjet 128x256 NNT"},
    {"sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nchw_tilesize128x64x16_stage4",
     "fprop 128x64x16 tf32"},
    {"void cutlass::Kernel2<cutlass_80_simt_sgemm_128x32_8x5_tn_align1>(int)", "sgemm 128x32 tn"},
    {"void gemmSN_TN_kernel<float, 128, 16, 2, 4, 4, 4, true>(int)", "gemmSN_TN_kernel"},
    {"void splitKreduce_kernel<32, 16, int, float>(int)", "splitKreduce_kernel"},
    {"my_gemm", "my_gemm"},
    {"copy_16x16", "copy_16x16"},
    {"gemm_16x", "gemm_16x"},
    {"gemm_x16x16", "gemm_x16x16"},
    {"gemm_1x2x3x4", "gemm_1x2x3x4"},
};

START_TEST(matrix_products)
{
    char **names = ct_short_names_in(&products[_i].full, 1, 80);
    ck_assert_str_eq(names[0], products[_i].shown);
    ct_short_names_free(names, 1);
}
END_TEST

/* Two that differ elsewhere are not called the same. */
START_TEST(products_that_differ)
{
    static const char *const full[] = {"ampere_sgemm_128x64_nn", "volta_sgemm_128x64_nn"};
    char **names = ct_short_names_in(full, COUNT(full), 80);
    for (size_t i = 0; i < COUNT(full); i++)
        ck_assert_str_eq(names[i], full[i]);
    ct_short_names_free(names, COUNT(full));
}
END_TEST

/* ---- paths ---- */

static const char *const layers[] = {
    "Net",
    "Net/Model",
    "Net/Model/Layer[0]/MLP/Linear[0]",
    "Net/Model/Layer[11]/MLP/Linear[0]",
    "Net/Model/Layer[11]/MLP/Linear[0]",
    "Net/Model/Layer[0]/Norm",
    "Other/Model/Layer[1]",
    "Linear[0]",
    "",
};

START_TEST(ends_of_paths)
{
    static const char *const wanted[] = {
        "Net",
        "Net/Model",
        "…/Layer[0]/MLP/Linear[0]",
        "…/Layer[11]/MLP/Linear[0]",
        "…/Layer[11]/MLP/Linear[0]",
        "…/Layer[0]/Norm",
        "…/Model/Layer[1]",
        "Linear[0]",
        "",
    };
    static const char *const models[] = {"A/M/Layer/Linear", "B/M/Layer/Linear", "M/Layer/Linear"},
                             *const whole[] = {"A/M/Layer/Linear", "B/M/Layer/Linear",
                                               "M/Layer/Linear"};
    char **names = ct_short_paths(layers, COUNT(layers), 0);
    for (size_t i = 0; i < COUNT(layers); i++)
        ck_assert_str_eq(names[i], wanted[i]);
    ct_short_names_free(names, COUNT(layers));
    names = ct_short_paths(models, COUNT(models), 0);
    for (size_t i = 0; i < COUNT(models); i++)
        ck_assert_str_eq(names[i], whole[i]);
    ct_short_names_free(names, COUNT(models));
}
END_TEST

START_TEST(paths_fit_and_differ)
{
    char **names = ct_short_paths(layers, COUNT(layers), _i);
    for (size_t i = 0; i < COUNT(layers); i++) {
        ck_assert_int_le(ct_terminal_width(names[i]), _i);
        for (size_t k = 0; k < i; k++)
            ck_assert(!strcmp(layers[i], layers[k]) == !strcmp(names[i], names[k]));
    }
    ct_short_names_free(names, COUNT(layers));
}
END_TEST

START_TEST(none)
{
    ct_short_names_free(ct_short_names(NULL, 0), 0);
    ct_short_names_free(ct_short_names_in(NULL, 0, 20), 0);
    ct_short_names_free(ct_short_paths(NULL, 0, 20), 0);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("short names");
    tcase_add_test(tests, last_component);
    tcase_add_test(tests, arguments_where_they_differ);
    tcase_add_test(tests, namespaces_and_the_whole);
    tcase_add_test(tests, long_ones_where_they_differ);
    tcase_add_test(tests, twice);
    tcase_add_loop_test(tests, fit_and_differ, 12, 100);
    tcase_add_loop_test(tests, in_room, 0, COUNT(rooms));
    tcase_add_loop_test(tests, matrix_products, 0, COUNT(products));
    tcase_add_test(tests, products_that_differ);
    tcase_add_test(tests, ends_of_paths);
    tcase_add_loop_test(tests, paths_fit_and_differ, 12, 40);
    tcase_add_test(tests, none);
    return ct_case_main("short names", tests);
}
