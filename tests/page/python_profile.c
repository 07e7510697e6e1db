/* SPDX-License-Identifier: MIT */
#include "python_profile.h"

#include <stdio.h>
#include <string.h>

#define NN "/usr/lib/python3.11/site-packages/nn/"
#define HOME "/home/me/"

static uint32_t add_line(struct ct_build *b, const char *file, const char *function, uint32_t line)
{
    struct ct_file_line l = {.line = line};
    l.file = ct_build_text(b, file);
    l.function = ct_build_text(b, function);
    return ct_build_add(b, CT_SECTION_LINES, &l);
}

/* A module in its parent, 0: in none; one more than its index. */
static uint32_t add_module(struct ct_build *b, uint32_t parent, const char *type, uint32_t number)
{
    struct ct_file_module f = {parent, ct_build_text(b, type), number, 0};
    return ct_build_add(b, CT_SECTION_MODULES, &f) + 1;
}

/* A frame in its parent, 0: in none, and in a module; one more than its index. */
static uint32_t add_frame_in(struct ct_build *b, uint32_t parent, uint32_t line, uint32_t module)
{
    struct ct_file_frame f = {.parent = parent, .line = line, .module = module};
    return ct_build_add(b, CT_SECTION_FRAMES, &f) + 1;
}

static uint32_t add_frame(struct ct_build *b, uint32_t parent, uint32_t line)
{
    return add_frame_in(b, parent, line, 0);
}

static uint32_t call(struct ct_build *b, uint32_t parent, const char *file, const char *function,
                     uint32_t line)
{
    return add_frame(b, parent, add_line(b, file, function, line));
}

/* Two kinds of calls; there may be none of the second. */
static uint32_t add_kernel(struct ct_build *b, const char *name, unsigned calls, uint64_t ns,
                           unsigned more, uint64_t more_ns)
{
    struct ct_file_row row = ct_build_row(CT_ROW_KERNEL, 0, 0, ct_build_text(b, name));
    for (unsigned i = 0; i < calls + more; i++)
        ct_build_time(&row, i < calls ? ns : more_ns);
    return ct_build_add(b, CT_SECTION_ROWS, &row);
}

static void launch(struct ct_build *b, uint32_t frame, uint32_t row, uint64_t count, uint64_t ns)
{
    struct ct_file_stack s = {row, frame - 1, count, count, count * ns};
    ct_build_add(b, CT_SECTION_STACKS, &s);
}

/* Where the two versions differ; all times in microseconds. */
struct version {
    const char *model;             /* file */
    uint32_t moved;                /* lines of it */
    uint64_t gemm_us;              /* each in a step; 10 in evaluate */
    const char *optimizer, *adamw; /* kernel, and function that launches it */
    const char *attention;         /* module in Net that has a softmax */
};

/*
 *     <module> > entry > main > run > loop:60 > step:50 > Net.forward:12 > linear > gemm, 40 x 10
 *                                                         Net.forward:14 > softmax, 20 x 10
 *                                               step:51 > AdamW.step > adam, 10 x 10
 *                                     loop:62 > evaluate > Net.forward:12 > linear > gemm, 20 x 10
 *     by no line: softmax, 10 x 10
 *
 * linear is in the module Net/Linear, Net.forward:14 in one of its own.
 */
static void fill_program(struct ct_build *b, const struct version *v)
{
    uint32_t gemm = add_kernel(b, "gemm", 40, 1000 * v->gemm_us, 20, 10000);
    uint32_t softmax = add_kernel(b, "softmax", 30, 10000, 0, 0);
    uint32_t adam = add_kernel(b, v->optimizer, 10, 10000, 0, 0);
    uint32_t top = call(b, 0, HOME "train.py", "<module>", 90);
    uint32_t entry = call(b, top, HOME "train.py", "entry", 85);
    uint32_t run = call(b, call(b, entry, HOME "train.py", "main", 80), HOME "train.py", "run", 70);
    uint32_t loop = call(b, run, HOME "train.py", "loop", 60);
    uint32_t step = call(b, loop, HOME "train.py", "step", 50);
    uint32_t forward = add_line(b, v->model, "Net.forward", 12 + v->moved);
    uint32_t linear = add_line(b, NN "functional.py", "linear", 5);
    uint32_t net = add_module(b, 0, "Net", 0), inner = add_module(b, net, "Linear", 0);
    uint32_t attention = add_module(b, net, v->attention, 0);
    launch(b, add_frame_in(b, add_frame_in(b, step, forward, net), linear, inner), gemm, 40,
           1000 * v->gemm_us);
    launch(b, add_frame_in(b, step, add_line(b, v->model, "Net.forward", 14 + v->moved), attention),
           softmax, 20, 10000);
    launch(b, call(b, call(b, loop, HOME "train.py", "step", 51), NN "optim.py", v->adamw, 9), adam,
           10, 10000);
    uint32_t loop_end = call(b, run, HOME "train.py", "loop", 62);
    uint32_t evaluate = call(b, loop_end, HOME "train.py", "evaluate", 40);
    launch(b, add_frame_in(b, add_frame_in(b, evaluate, forward, net), linear, inner), gemm, 20,
           10000);
}

/* Each frame launches and calls, so that none is the only call of the one above. */
static void fill_deep(struct ct_build *b, uint32_t top, uint32_t row)
{
    uint32_t line = add_line(b, HOME "tree.py", "descend", 7), frame = top;
    for (int i = 0; i < 300; i++) {
        frame = add_frame(b, frame, line);
        launch(b, frame, row, 1, 400000);
    }
}

/* Groups of a hundred stacks, the last ones far narrower than a pixel. */
static void fill_many(struct ct_build *b)
{
    char name[32];
    uint32_t rows[20], top = call(b, 0, HOME "many.py", "<module>", 1);
    for (unsigned i = 0; i < 20; i++) {
        snprintf(name, sizeof(name), "kernel_%u", i);
        rows[i] = add_kernel(b, name, 4000, 30000, 0, 0);
    }
    fill_deep(b, top, rows[0]);
    for (uint32_t i = 0; i < 100; i++) {
        snprintf(name, sizeof(name), "part_%u", i);
        uint32_t part = call(b, top, HOME "many.py", name, 10 + i);
        for (uint32_t j = 0; j < 97; j++) {
            snprintf(name, sizeof(name), "leaf_%u_%u", i, j);
            launch(b, call(b, part, NN "leaf.py", name, 1 + j), rows[(i + j) % 20],
                   1 + 90 / (1 + j), 2000 + 1000 * (100 - i));
        }
    }
}

bool ct_fill_python(struct ct_build *b, const char *kind)
{
    static const struct version first = {HOME "model.py", 0, 10, "adam", "AdamW.step", "Attention"},
                                edited = {HOME "new/model.py", 30, 20, "sgd", "SGD.step",
                                          "FlashAttention"};
    bool many = !strcmp(kind, "python-many"), is_edited = !strcmp(kind, "python-edited");
    if (!many && !is_edited && strcmp(kind, "python"))
        return false;
    ct_build_process(b, 4711, "python3 train.py");
    ct_build_device(b, 0, "NVIDIA H200");
    if (many)
        fill_many(b);
    else
        fill_program(b, is_edited ? &edited : &first);
    return true;
}

void ct_fill_hostile_stack(struct ct_build *b, uint32_t row, const char *const *names, size_t count)
{
    uint32_t frame = 0;
    for (size_t i = 0; i < count; i++) {
        frame = call(b, frame, names[i], names[count - 1 - i], (uint32_t)i);
        launch(b, frame, row, 1, 4000);
    }
}
