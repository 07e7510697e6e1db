/* SPDX-License-Identifier: MIT */
/*
 * Names as nvprof spells them. The mangled ones are g++'s for made-up sources in the style of
 * PyTorch, CUTLASS and Thrust.
 */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "case_main.h"
#include "report/names.h"
#include "report/nvprof_names.h"

struct name {
    const char *from, *to;
};

static const struct name kernels[] = {
    {"_Z6vecAddPKfS0_Pfi", "vecAdd(float const *, float const *, float*, int)"},
    {"_Z1fv", "f(void)"},
    {"_Z4foo1IfLi32EEvPT_i", "void foo1<float, int=32>(float*, int)"},
    {"_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIfEESt5arrayIPcLm1EEEEvifT0"
     "_",
     "void at::native::vectorized_elementwise_kernel<int=4, at::native::FillFunctor<float>, "
     "std::array<char*, unsigned long=1>>(int, float, at::native::FillFunctor<float>)"},
    {"_ZN2at6native29vectorized_elementwise_kernelILi4EZZZNS0_15add_kernel_cudaERNS_14TensorIterato"
     "rEN3c106ScalarEENKUlvE_clEvENKUlvE4_clEvEUlffE_NS_6detail5ArrayIPcLi3EEEEEviT0_T1_",
     "void at::native::vectorized_elementwise_kernel<int=4, "
     "at::native::add_kernel_cuda(at::TensorIterator&, c10::Scalar)::[lambda() (instance "
     "1)]::operator ()(void) const::[lambda() (instance 6)]::operator ()(void) "
     "const::[lambda(float, float) (instance 1)], at::detail::Array<char*, int=3>>(int, "
     "at::native::add_kernel_cuda(at::TensorIterator&, c10::Scalar)::[lambda() (instance "
     "1)]::operator ()(void) const::[lambda() (instance 6)]::operator ()(void) "
     "const::[lambda(float, float) (instance 1)], at::detail::Array<char*, int=3>)"},
    {"_ZN6cudapy8__main__6addoneEx5ArrayIdLi1E1A7mutable7alignedE",
     "cudapy::__main__::addone(__int64, Array<double, int=1, A, mutable, aligned>)"},
    {"_Z8literalsILin2ELb1ELc65ELj3ELln4ELm5ELxn6ELy7ELsn8EEvv",
     "void literals<int=-2, bool=1, char=65, unsigned int=3, long=-4, unsigned long=5, __int64=-6, "
     "unsigned __int64=7, short=-8>(void)"},
    {"_Z5enumsIL5Color1EL2Opn3ELN3lib4ModeE2EEvi", "void enums<Color=1, Op=-3, lib::Mode=2>(int)"},
    {"_Z5typesIfEvPKT_RS1_RS0_OS0_PVS0_PKPS0_",
     "void types<float>(float const *, float const &, float&, float&&, float volatile *, float* "
     "const *)"},
    {"_Z4ptrsPvPKvPPcPKPKcPKi",
     "ptrs(void*, void const *, char**, char const * const *, int const *)"},
    {"_Z5plainIN3lib4TileINS1_IKfLi4EEELi8EEEEvT_",
     "void plain<lib::Tile<lib::Tile<float const , int=4>, int=8>>(lib::Tile<lib::Tile<float const "
     ", int=4>, int=8>)"},
    {"_Z5plainIPFviPKfEEvT_",
     "void plain<void (*)(int, float const *)>(void (*)(int, float const *))"},
    {"_Z5plainIPFivEEvT_", "void plain<int (*)(void)>(int (*)(void))"},
    {"_Z5plainIPyEvT_", "void plain<unsigned __int64*>(unsigned __int64*)"},
    {"_Z5plainIZNK1S1mEvEUliE_EvT_",
     "void plain<S::m(void) const::[lambda(int) (instance 1)]>(S::m(void) const::[lambda(int) "
     "(instance 1)])"},
    {"_Z5plainIZ3usevEUt_EvT_",
     "void plain<use(void)::[unnamed type (instance 1)]>(use(void)::[unnamed type (instance 1)])"},
    {"_ZN12_GLOBAL__N_16secretINS_6HiddenEEEvT_",
     "void <unnamed>::secret<<unnamed>::Hidden>(<unnamed>::Hidden)"},
    {"_Z4packIJiPKfN3lib4TileIiLi2EEEEEvDpT_",
     "void pack<int, float const *, lib::Tile<int, int=2>>(int, float const *, lib::Tile<int, "
     "int=2>)"},
    {"_Z4intsIJEEvv", "void ints<>(void)"},
    {"_Z4exprILi2ELi1EEv5ShapeIXgtT_T0_EXplT_T0_EE",
     "void expr<int=2, int=1>(Shape<((2)>(1)), (2)+(1)>)"},
    {"_ZgtIfEbRKN3lib4TileIT_Li1EEEi",
     "bool operator><float>(lib::Tile<float, int=1> const &, int)"},
    {"_ZltIN3lib4TileIfLi2EEEEbRKNS1_IT_Li1EEEi",
     "bool operator< <lib::Tile<float, int=2>>(lib::Tile<lib::Tile<float, int=2>, int=1> const &, "
     "int)"},
    {"_ZlsIiEiRKN3lib4TileIT_Li1EEES2_",
     "int operator<< <int>(lib::Tile<int, int=1> const &, int)"},
    {"_Z5arrowIXadL_ZN1VptEvEEEvv", "void arrow<&V::operator-> >(void)"},
    {"_Z6memberIXadL_ZNK1VgtERKS0_EEEvv", "void member<&(V::operator>(V const &) const)>(void)"},
    {"_Z4callIXadL_ZNK1VclEiEEEvv", "void call<&(V::operator ()(int) const)>(void)"},
    {"_Z3sumILi4EEDTplixfp_Li0ET_ERAT__i", "decltype (({parm#1}[0])+(4)) sum<int=4>(int (&) [4])"},
    {"_ZNKR1S1nEv", "S::n(void) const &"},
    /* not mangled, or not by C++ */
    {"f", "f"},
    {"triton_poi_fused_add_0", "triton_poi_fused_add_0"},
    {"volta_sgemm_128x64_nn", "volta_sgemm_128x64_nn"},
    {"_Z", "_Z"},
    {"_Z6vecAddPKf&", "_Z6vecAddPKf&"},
    {"_ZN2at6native", "_ZN2at6native"},
    {"", "[unnamed kernel]"},
};

START_TEST(kernels_are_spelled_like_nvprof)
{
    struct ct_string text = {0};
    ct_name_kernel(&text, kernels[_i].from, true);
    ck_assert_str_eq(text.data, kernels[_i].to);
    ct_string_free(&text);
}
END_TEST

START_TEST(demangling_can_be_off)
{
    struct ct_string text = {0};
    ct_name_kernel(&text, "_Z1fv", false);
    ck_assert_str_eq(text.data, "_Z1fv");
    ct_string_free(&text);
}
END_TEST

static const struct name apis[] = {
    {"cudaLaunchKernel", "cudaLaunchKernel"},
    {"__cudaLaunchKernel_ptsz", "cudaLaunchKernel"},
    {"cudaLaunchKernel_v7000", "cudaLaunchKernel"},
    {"cuMemcpyHtoDAsync_v2", "cuMemcpyHtoDAsync"},
    {"cuMemcpyHtoD_v2_ptds", "cuMemcpyHtoD"},
    {"cuMemcpyBatchAsync_v2_ptsz", "cuMemcpyBatchAsync"},
    {"cuDeviceGetP2PAttribute", "cuDeviceGetP2PAttribute"},
    {"cuMemsetD2D32", "cuMemsetD2D32"},
    {"_v2", "_v2"},
    {"cu\x1b[31m", "cu\\x1b[31m"},
};

START_TEST(apis_lose_their_suffixes)
{
    struct ct_string text = {0};
    ct_name_api(&text, apis[_i].from);
    ck_assert_str_eq(text.data, apis[_i].to);
    ct_string_free(&text);
}
END_TEST

static const struct name texts[] = {
    {"plain", "plain"},
    {"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"},
    {"a\nb\tc\x7f", "a\\x0ab\\x09c\\x7f"},
    {"\x1b]0;title\x07", "\\x1b]0;title\\x07"},
    {"\xff\xc3", "\\xff\\xc3"},
    {"\xc0\xaf", "\\xc0\\xaf"},          /* overlong */
    {"\xed\xa0\x80", "\\xed\\xa0\\x80"}, /* half of a pair */
    {"\xc2\x9b", "\\xc2\\x9b"},          /* a control character of two bytes */
    {"\xe2\x80\xae", "\\xe2\\x80\\xae"}, /* right to left */
    {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},
    {"", ""},
};

START_TEST(texts_cannot_steer_a_terminal)
{
    struct ct_string text = {0};
    ct_name_safe(&text, texts[_i].from);
    ck_assert_str_eq(text.data, texts[_i].to);
    ct_string_free(&text);
}
END_TEST

/* Text that no demangler makes must still end, and within its brackets. */
static const struct name odd[] = {
    {"f<", "f<"},
    {">>> >", ">>> >"},
    {"{lambda", "{lambda"},
    {"((((", "(((("},
    {"{#}", "[ (instance )]"},
    {"f<(>", "f<(>"},
    {"a<1", "a<1"},
    {"a<-", "a<-"},
    {"operator", "operator"},
    {"{lambda(#1}", "[lambda( (instance 1)]"},
    {"decltype (", "decltype ("},
    {"f<true", "f<true"},
};

START_TEST(odd_text_passes)
{
    struct ct_string text = {0};
    ct_edg_respell(&text, odd[_i].from);
    ck_assert_str_eq(text.data, odd[_i].to);
    ct_string_free(&text);
}
END_TEST

static void repeat(struct ct_string *s, const char *part, size_t times)
{
    for (size_t i = 0; i < times; i++)
        ct_string_put(s, part);
}

/* Template libraries make names of several thousand characters. */
START_TEST(long_names)
{
    struct ct_string name = {0}, text = {0};
    ct_string_put(&name, "_Z1fN1aIJ");
    repeat(&name, "4TypeILi7EE", 400);
    ct_string_put(&name, "EEE");
    ct_name_kernel(&text, name.data, true);
    ck_assert_msg(!strncmp(text.data, "f(a<Type<int=7>, Type<int=7>", 28), "%.60s", text.data);
    ct_string_free(&name);
    ct_string_free(&text);
}
END_TEST

/* Each argument is twice as long as the one before it: 2^36 at the end. */
START_TEST(exploding_names)
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    struct ct_string name = {0}, text = {0};
    ct_string_put(&name, "_Z1f1aIiiE");
    for (const char *c = digits; *c; c++)
        ct_string_printf(&name, "S_IS%c_S%c_E", *c, *c);
    ct_name_kernel(&text, name.data, true);
    ck_assert_str_eq(text.data, name.data);
    ct_string_free(&name);
    ct_string_free(&text);
}
END_TEST

static const rlim_t stacks[] = {(rlim_t)8 << 20, (rlim_t)1 << 20, (rlim_t)256 << 10};

/* Nesting as deep as a name can be long must not use up the stack, however little there is. */
START_TEST(deep_names)
{
    static const char *const parts[] = {
        "P",   "K",     "PK",  "F",    "I",  "N1a", "X",  "ad",  "Z",   "T_",           "A_", "1aI",
        "Xsz", "FPFPF", "M1a", "DpT_", "cv", "L_",  "Dp", "LZ1", "Xnx", "1aIXadL_Z1bI", "S_"};
    static const size_t lengths[] = {100, 300, 500, 900, 2700, 8100, 16300};
    struct rlimit stack;
    ck_assert_int_eq(getrlimit(RLIMIT_STACK, &stack), 0);
    stack.rlim_cur = stacks[_i];
    ck_assert_int_eq(setrlimit(RLIMIT_STACK, &stack), 0);
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        for (size_t k = 0; k < sizeof(lengths) / sizeof(lengths[0]); k++) {
            struct ct_string name = {0}, text = {0};
            ct_string_put(&name, "_Z1f");
            repeat(&name, parts[i], lengths[k] / strlen(parts[i]));
            ct_string_put(&name, "i");
            ct_name_kernel(&text, name.data, true);
            ck_assert_uint_gt(text.len, 0);
            ct_string_free(&name);
            ct_string_free(&text);
        }
    }
}
END_TEST

#define LOOP(test, table) tcase_add_loop_test(tests, test, 0, sizeof(table) / sizeof((table)[0]))

int main(void)
{
    TCase *tests = tcase_create("names");
    LOOP(kernels_are_spelled_like_nvprof, kernels);
    LOOP(apis_lose_their_suffixes, apis);
    LOOP(texts_cannot_steer_a_terminal, texts);
    LOOP(odd_text_passes, odd);
    tcase_add_test(tests, demangling_can_be_off);
    tcase_add_test(tests, long_names);
    tcase_add_test(tests, exploding_names);
    LOOP(deep_names, stacks);
    return ct_case_main("demangle", tests);
}
