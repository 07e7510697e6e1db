/* SPDX-License-Identifier: MIT */
/* Frames of CPython that are made here, right and wrong, and the tree of stacks. */
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "case_main.h"
#include "stacks/python.h"
#include "stacks/thread_name.h"
#include "stacks/tree.h"
#include "state/thread.h"
#include "work/node_stack.h"

#define VERSION(minor) (3 << 8 | (minor))

static const uint32_t versions[] = {VERSION(8),  VERSION(9),  VERSION(10), VERSION(11),
                                    VERSION(12), VERSION(13), VERSION(14)};

/* An interpreter's memory with one code object, and so many frames of it. */
#define FRAMES 4
struct memory {
    _Alignas(16) char type[8];
    _Alignas(16) char file[128];
    _Alignas(16) char name[128];
    _Alignas(16) char table[64];
    _Alignas(16) char bytes[64];
    _Alignas(16) char code[512];
    _Alignas(16) char method[64];
    _Alignas(16) char self[64];
    _Alignas(16) char names[64];
    _Alignas(16) char cell_names[64];
    _Alignas(16) char cell_arguments[64];
    _Alignas(16) char cell_type[8];
    _Alignas(16) char cell[64];
    _Alignas(16) char class[64];
    _Alignas(16) char class_name[64];
    _Alignas(16) char object[2][64];
    _Alignas(16) char frame[FRAMES][512];
};

static struct memory memory;
static struct ct_python python;
static const struct ct_py_layout *layout;

static void put(char *at, uint64_t value, size_t bytes)
{
    memcpy(at, &value, bytes);
}

static void put_address(char *at, const void *to)
{
    put(at, (uintptr_t)to, 8);
}

static void make_text(char *object, const char *text)
{
    put(object + CT_PY_TEXT_LENGTH, strlen(text), 8);
    put(object + CT_PY_TEXT_HASH, UINT64_MAX, 8);
    put(object + CT_PY_TEXT_STATE, 1 << 2 | 1 << 5 | 1 << 6, 4);
    strcpy(object + layout->ascii_text, text);
}

/* Where the frame's instruction is, bytes. */
static void set_offset(char *frame, int64_t offset)
{
    if (layout->lasti_bytes)
        put(frame + layout->instruction, (uint32_t)(offset / layout->lasti_bytes), 4);
    else
        put(frame + layout->instruction, (uintptr_t)memory.code + layout->start + (uint64_t)offset,
            8);
}

static void make(uint32_t version)
{
    memset(&memory, 0, sizeof(memory));
    layout = ct_py_layout_of(version);
    ck_assert_ptr_nonnull(layout);
    python = (struct ct_python){
        .layout = layout, .code_type = memory.type, .cell_type = memory.cell_type};
    make_text(memory.file, "train.py");
    make_text(memory.name, "step");
    put(memory.table + CT_PY_SIZE, 4, 8);
    /* 8 bytes of line 10, then 8 of line 12. */
    const unsigned char steps[] = {8, 2, 8, 0}, ranges[] = {8, 0, 8, 2};
    const unsigned char places[] = {0x83, 0x00, 0xe3, 0x00}; /* short form, +0; one line form, +2 */
    memcpy(memory.table + CT_PY_BYTES,
           layout->lines == CT_PY_LNOTAB      ? steps
           : layout->lines == CT_PY_LINETABLE ? ranges
                                              : places,
           4);
    put_address(memory.code + CT_PY_TYPE, memory.type);
    put(memory.code + layout->first_line, 10, 4);
    put_address(memory.code + layout->file, memory.file);
    put_address(memory.code + layout->name, memory.name);
    put_address(memory.code + layout->table, memory.table);
    put_address(memory.code + layout->own_name, memory.name);
    if (layout->lasti_bytes)
        put_address(memory.code + layout->start, memory.bytes);
    put(memory.bytes + CT_PY_SIZE, 16, 8);
    if (!layout->lasti_bytes)
        put(memory.code + CT_PY_SIZE, 8, 8);
    for (int i = 0; i < FRAMES; i++) {
        char *f = memory.frame[i];
        put_address(f + layout->back, i + 1 < FRAMES ? memory.frame[i + 1] : NULL);
        put(f + layout->code, (uintptr_t)memory.code | (layout->is_tagged ? 1 : 0), 8);
        set_offset(f, 8);
    }
}

/* The frame's method has this name, and is an object's. */
static void make_module(uint32_t version, const char *method)
{
    make(version);
    make_text(memory.method, method);
    make_text(memory.self, "self");
    put_address(memory.code + layout->own_name, memory.method);
    put(memory.code + layout->arguments, 1, 4);
    put_address(memory.code + layout->names, memory.names);
    put(memory.names + CT_PY_SIZE, 1, 8);
    put_address(memory.names + layout->items, memory.self);
    strcpy(memory.class_name, "Linear");
    put_address(memory.class + CT_PY_TYPE_NAME, memory.class_name);
    for (int i = 0; i < 2; i++)
        put_address(memory.object[i] + CT_PY_TYPE, memory.class);
    put_address(memory.cell + CT_PY_TYPE, memory.cell_type);
    for (int i = 0; i < FRAMES; i++)
        put_address(memory.frame[i] + layout->locals, memory.object[0]);
}

static uint64_t self_id(void)
{
    return ct_py_self(&python, memory.frame[1], memory.code).id;
}

static uint64_t mark(void)
{
    return ct_py_stack_mark(&python, memory.frame[0]);
}

static uint32_t line_at(int64_t offset)
{
    struct ct_py_spot spot;
    set_offset(memory.frame[0], offset);
    ck_assert_int_eq(ct_py_look_at(&python, memory.frame[0], &spot), CT_PY_FRAME);
    ck_assert_int_eq(spot.offset, offset);
    return ct_py_line(layout, &spot);
}

START_TEST(frames_are_read)
{
    char text[64];
    make(versions[_i]);
    ck_assert_uint_ne(mark(), 0);
    ck_assert_uint_eq(line_at(0), 10);
    ck_assert_uint_eq(line_at(6), 10);
    ck_assert_uint_eq(line_at(8), 12);
    ck_assert_uint_eq(line_at(14), 12);
    ck_assert(ct_py_text(layout, memory.name, text, sizeof(text)));
    ck_assert_str_eq(text, "step");
    ck_assert(ct_py_text(layout, memory.name, text, 3));
    ck_assert_str_eq(text, "st");
}
END_TEST

/* Whatever could tell one stack from another makes it another; put back it is the first again. */
START_TEST(other_stacks_have_other_marks)
{
    make(versions[_i]);
    const uint64_t first = mark();
    char *const changed[] = {memory.file + layout->ascii_text, memory.name + layout->ascii_text,
                             memory.code + layout->first_line, memory.table + CT_PY_BYTES + 3};
    for (size_t i = 0; i < ct_countof(changed); i++) {
        *changed[i] ^= 1;
        ck_assert_msg(mark() != first, "a change of %zu is not seen", i);
        *changed[i] ^= 1;
        ck_assert_uint_eq(mark(), first);
    }
    set_offset(memory.frame[1], 10);
    ck_assert_uint_ne(mark(), first);
    set_offset(memory.frame[1], 8);
    put_address(memory.frame[2] + layout->back, NULL);
    ck_assert_uint_ne(mark(), first);
}
END_TEST

START_TEST(garbled_frames_are_refused)
{
    static const uint64_t no_addresses[] = {0, 8, 0x1234567, 0xffff800000000000, UINT64_MAX - 7};
    struct ct_py_spot spot;
    for (size_t i = 0; i < ct_countof(no_addresses); i++) {
        make(versions[_i]);
        put(memory.frame[1] + layout->code, no_addresses[i], 8);
        ck_assert_int_eq(ct_py_look_at(&python, memory.frame[1], &spot), CT_PY_GARBLED);
        ck_assert_uint_eq(mark(), 0);
        make(versions[_i]);
        put(memory.frame[1] + layout->back, no_addresses[i], 8);
        ck_assert(!mark() || !no_addresses[i]);
        const size_t members[] = {layout->file, layout->name, layout->table};
        for (size_t k = 0; k < ct_countof(members); k++) {
            make(versions[_i]);
            put(memory.code + members[k], no_addresses[i], 8);
            ck_assert_uint_eq(mark(), 0);
        }
    }
    static const int64_t outside[] = {16, 1 << 20, -4, INT32_MAX};
    for (size_t i = 0; i < ct_countof(outside); i++) {
        make(versions[_i]);
        if (outside[i] < 0 && layout->lasti_bytes)
            continue; /* none was begun */
        set_offset(memory.frame[3], outside[i]);
        ck_assert_uint_eq(mark(), 0);
    }
}
END_TEST

/* By the names of the method and of its first argument. */
START_TEST(modules_are_known)
{
    static const char *const methods[] = {"forward", "__call__", "_call_impl",
                                          "_wrapped_call_impl"};
    static const char *const others[] = {
        "forwarx", "backward",     "__init__", "_call_impx",
        "step",    "fast_forward", "",         "_wrapped_call_impx"};
    for (size_t i = 0; i < ct_countof(methods); i++) {
        make_module(versions[_i], methods[i]);
        ck_assert_uint_ne(self_id(), 0);
        ck_assert_ptr_eq(ct_py_self(&python, memory.frame[1], memory.code).type, memory.class);
        make_text(memory.self, "this");
        ck_assert_uint_eq(self_id(), 0);
        make_text(memory.self, "selfs");
        ck_assert_uint_eq(self_id(), 0);
        make_text(memory.self, "self");
        put(memory.code + layout->arguments, 0, 4);
        ck_assert_uint_eq(self_id(), 0);
    }
    for (size_t i = 0; i < ct_countof(others); i++) {
        make_module(versions[_i], others[i]);
        ck_assert_uint_eq(self_id(), 0);
    }
}
END_TEST

/* Another object, type or name of it; in a module's frames alone. */
START_TEST(other_modules_have_other_marks)
{
    make_module(versions[_i], "forward");
    const uint64_t first = mark(), id = self_id();
    put_address(memory.frame[1] + layout->locals, memory.object[1]);
    ck_assert_uint_ne(mark(), first);
    ck_assert_uint_ne(self_id(), id);
    put_address(memory.frame[1] + layout->locals, memory.object[0]);
    ck_assert_uint_eq(mark(), first);
    static const char *const names[] = {"Lineas", "Linear2", "", "LinearAndMore", "Conv"};
    for (size_t i = 0; i < ct_countof(names); i++) {
        strcpy(memory.class_name, names[i]);
        ck_assert_uint_ne(self_id(), id);
    }
    strcpy(memory.class_name, "Linear");
    make_text(memory.method, "step");
    const uint64_t other = mark();
    put_address(memory.frame[1] + layout->locals, memory.object[1]);
    ck_assert_uint_eq(mark(), other);
}
END_TEST

/* A name is read in words, none of them beyond its last page. */
START_TEST(names_end_with_a_page)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(pages, MAP_FAILED);
    ck_assert_int_eq(munmap(pages + page, page), 0);
    make_module(versions[_i], "forward");
    char name[64];
    for (size_t bytes = 1; bytes < 20; bytes++) {
        char *at = pages + page - bytes;
        memset(at, 'x', bytes - 1);
        at[bytes - 1] = '\0';
        put_address(memory.class + CT_PY_TYPE_NAME, at);
        ck_assert_uint_ne(self_id(), 0);
        ct_python_type_name(memory.class, name, sizeof(name));
        ck_assert_str_eq(name, at);
    }
    put_address(memory.class + CT_PY_TYPE_NAME, (void *)0x10000);
    ct_python_type_name(memory.class, name, sizeof(name));
    ck_assert_str_eq(name, "");
    munmap(pages, page);
}
END_TEST

/* An argument that a closure shares: in a cell behind the locals, or in its place. */
START_TEST(cells_are_looked_into)
{
    make_module(versions[_i], "forward");
    const uint64_t id = self_id();
    char *local = memory.frame[1] + layout->locals;
    put_address(memory.cell + CT_PY_IN_CELL, memory.object[0]);
    if (layout->cells) {
        put_address(local, NULL);
        ck_assert_uint_eq(self_id(), 0);
        put(memory.code + layout->locals_before_cells, 3, 4);
        put_address(memory.code + layout->cells, memory.cell_names);
        put_address(memory.code + layout->cell_arguments, memory.cell_arguments);
        put(memory.cell_names + CT_PY_SIZE, 2, 8);
        put(memory.cell_arguments, UINT64_MAX, 8);
        local += 8 * 4;
    }
    put_address(local, memory.cell);
    ck_assert_uint_eq(self_id(), id);
    put_address(memory.cell + CT_PY_IN_CELL, NULL);
    ck_assert_uint_eq(self_id(), 0);
    if (layout->cells) {
        put_address(memory.cell + CT_PY_IN_CELL, memory.object[0]);
        put(memory.cell_arguments + 8, 1, 8);
        put(memory.cell_names + CT_PY_SIZE, 2, 8);
        ck_assert_uint_eq(self_id(), 0);
        put(memory.code + layout->locals_before_cells, UINT32_MAX, 4);
        put(memory.cell_arguments + 8, 0, 8);
        ck_assert_uint_eq(self_id(), 0);
    }
}
END_TEST

/* The stack is known all the same. */
START_TEST(garbled_modules_are_none)
{
    static const uint64_t no_addresses[] = {0, 8, 0x1234567, 0xffff800000000000, UINT64_MAX - 7};
    make_module(versions[_i], "forward");
    char *const at[] = {memory.code + layout->own_name, memory.code + layout->names,
                        memory.names + layout->items,   memory.frame[1] + layout->locals,
                        memory.object[0] + CT_PY_TYPE,  memory.class + CT_PY_TYPE_NAME};
    for (size_t i = 0; i < ct_countof(at); i++) {
        for (size_t k = 0; k < ct_countof(no_addresses); k++) {
            make_module(versions[_i], "forward");
            bool is_any = i + 1 == ct_countof(at); /* a name may be anywhere */
            if (is_any && no_addresses[k] == 0x1234567)
                continue;
            put(at[i], no_addresses[k], 8);
            ck_assert_uint_eq(self_id(), 0);
            ck_assert(mark() || layout->own_name == layout->name);
        }
    }
    make_module(versions[_i], "forward");
    put(memory.frame[1] + layout->locals, layout->is_tagged ? 7 : 0, 8); /* a number */
    ck_assert_uint_eq(self_id(), 0);
    make_module(versions[_i], "forward");
    put(memory.names + CT_PY_SIZE, 0, 8);
    ck_assert_uint_eq(self_id(), 0);
}
END_TEST

START_TEST(other_objects_are_no_code)
{
    struct ct_py_spot spot;
    make(versions[_i]);
    put_address(memory.code + CT_PY_TYPE, memory.file);
    enum ct_py_look look = ct_py_look_at(&python, memory.frame[0], &spot);
    ck_assert_int_eq(look, versions[_i] >= VERSION(13) ? CT_PY_SKIPPED : CT_PY_GARBLED);
    ck_assert_uint_eq(mark(), 0);
}
END_TEST

/* Frames of the interpreter's own, and those that have not begun. */
START_TEST(frames_are_skipped)
{
    make(versions[_i]);
    if (layout->lasti_bytes)
        return;
    struct ct_py_spot spot;
    char *f = memory.frame[0];
    f[layout->owner] = 3;
    put(f + layout->code, UINT64_MAX, 8); /* may be anything */
    ck_assert_int_eq(ct_py_look_at(&python, f, &spot), CT_PY_SKIPPED);
    make(versions[_i]);
    put(memory.code + layout->traceable, 5, 4);
    ck_assert_int_eq(ct_py_look_at(&python, f, &spot), CT_PY_SKIPPED);
    f[layout->owner] = CT_PY_GENERATOR;
    ck_assert_int_eq(ct_py_look_at(&python, f, &spot), CT_PY_FRAME);
    make(versions[_i]);
    put(memory.code + layout->traceable, 4, 4);
    ck_assert_int_eq(ct_py_look_at(&python, f, &spot), CT_PY_FRAME);
}
END_TEST

/* A frame that is called by itself: the walk ends. */
START_TEST(circles_end)
{
    make(versions[_i]);
    put_address(memory.frame[3] + layout->back, memory.frame[0]);
    ck_assert_uint_ne(mark(), 0);
}
END_TEST

/* Characters of each size, halves of pairs, and a zero. */
START_TEST(texts_become_utf8)
{
    static const uint16_t two[] = {'a', 0xe4, 0x4e2d, 0xdcff, 0xd800, 0, 'z'};
    static const uint32_t four[] = {0x1f600, 'b'};
    char text[64];
    make(VERSION(12));
    put(memory.name + CT_PY_TEXT_STATE, 1 << 2 | 1 << 5, 4);
    memcpy(memory.name + layout->other_text, "\xe4", 1);
    put(memory.name + CT_PY_TEXT_LENGTH, 1, 8);
    ck_assert(ct_py_text(layout, memory.name, text, sizeof(text)));
    ck_assert_str_eq(text, "\xc3\xa4");
    put(memory.name + CT_PY_TEXT_STATE, 2 << 2 | 1 << 5, 4);
    put(memory.name + CT_PY_TEXT_LENGTH, ct_countof(two), 8);
    memcpy(memory.name + layout->other_text, two, sizeof(two));
    ck_assert(ct_py_text(layout, memory.name, text, sizeof(text)));
    ck_assert_str_eq(text, "a\xc3\xa4\xe4\xb8\xad\xff??z");
    put(memory.name + CT_PY_TEXT_STATE, 4 << 2 | 1 << 5, 4);
    put(memory.name + CT_PY_TEXT_LENGTH, ct_countof(four), 8);
    memcpy(memory.name + layout->other_text, four, sizeof(four));
    ck_assert(ct_py_text(layout, memory.name, text, sizeof(text)));
    ck_assert_str_eq(text, "\xf0\x9f\x98\x80"
                           "b");
    put(memory.name + CT_PY_TEXT_STATE, 3 << 2 | 1 << 5, 4);
    ck_assert(!ct_py_text(layout, memory.name, text, sizeof(text)));
    put(memory.name + CT_PY_TEXT_STATE, 1 << 2, 4); /* not in one piece */
    ck_assert(!ct_py_text(layout, memory.name, text, sizeof(text)));
    ck_assert(!ct_py_text(layout, memory.name + 1, text, sizeof(text)));
}
END_TEST

static int wrong_line(const void *frame)
{
    (void)frame;
    return 13;
}

static int right_line(const void *frame)
{
    (void)frame;
    return 12;
}

static int line_of_code(const void *code, int offset)
{
    (void)code;
    return offset < 8 ? 10 : 12;
}

static struct ct_interpreter interpreter(int (*line)(const void *))
{
    return (struct ct_interpreter){.python = python,
                                   .of = {.PyCode_Addr2Line = line_of_code,
                                          .PyFrame_GetLineNumber = line,
                                          .PyUnstable_InterpreterFrame_GetLine =
                                              python.layout->version >= VERSION(12) ? line : NULL}};
}

/* Before it is believed: against what Python says, and with addresses where nothing is. */
START_TEST(frames_are_checked)
{
    bool tried;
    make(versions[_i]);
    struct ct_interpreter i = interpreter(right_line), other = interpreter(wrong_line);
    ck_assert_ptr_null(ct_python_check_frames(&i, memory.frame[0], &tried));
    ck_assert(tried);
    ck_assert_ptr_nonnull(ct_python_check_frames(&other, memory.frame[0], &tried));
    const char *nowhere = (const char *)0x10000;
    ck_assert_ptr_nonnull(ct_python_check_frames(&i, nowhere, &tried));
    ck_assert(!tried);
    char *const at[] = {memory.frame[2] + layout->back, memory.frame[2] + layout->code,
                        memory.code + layout->file,     memory.code + layout->table,
                        memory.code + layout->name,     memory.code + layout->own_name};
    for (size_t k = 0; k < ct_countof(at); k++) {
        make(versions[_i]);
        put_address(at[k], nowhere);
        ck_assert_ptr_nonnull(ct_python_check_frames(&i, memory.frame[0], &tried));
    }
    make(versions[_i]);
    put(memory.code + layout->arguments, 1, 4); /* without names */
    ck_assert_ptr_nonnull(ct_python_check_frames(&i, memory.frame[0], &tried));
    char *const of_module[] = {memory.code + layout->names, memory.names + layout->items,
                               memory.frame[2] + layout->locals, memory.object[0] + CT_PY_TYPE};
    for (size_t k = 0; k < ct_countof(of_module); k++) {
        make_module(versions[_i], "step");
        ck_assert_ptr_null(ct_python_check_frames(&i, memory.frame[0], &tried));
        put_address(of_module[k], nowhere);
        ck_assert_ptr_nonnull(ct_python_check_frames(&i, memory.frame[0], &tried));
    }
    make(versions[_i]);
    put_address(memory.code + layout->file, memory.name); /* plausible, and not to be told apart */
    ck_assert_ptr_null(ct_python_check_frames(&i, memory.frame[0], &tried));
}
END_TEST

START_TEST(stacks_are_a_tree)
{
    ck_assert(ct_stack_tree_init());
    uint32_t a = ct_stack_line_add("a.py", "f", 1), b = ct_stack_line_add("a.py", "g", 2);
    ck_assert_uint_eq(ct_stack_line_add("a.py", "f", 1), a);
    ck_assert_uint_ne(ct_stack_line_add("a.py", "f", 2), a);
    ck_assert_uint_eq(ct_stack_line(b)->same_file, a);
    ck_assert_uint_eq(ct_stack_line(b)->same_function, b);
    uint32_t outer = ct_stack_node_add(0, a, 0), inner = ct_stack_node_add(outer, b, 0);
    ck_assert_uint_ne(outer, CT_STACK_NONE);
    ck_assert_uint_eq(ct_stack_node_add(outer, b, 0), inner);
    ck_assert_uint_ne(ct_stack_node_add(inner, b, 0), inner);
    ck_assert_uint_eq(ct_stack_node(inner)->parent, outer);
    ck_assert_uint_eq(ct_stack_lines(), 3);
    ck_assert_uint_eq(ct_stack_nodes(), 3);
    uint32_t in_module = ct_stack_node_add(outer, b, 5);
    ck_assert_uint_ne(in_module, inner);
    ck_assert_uint_eq(ct_stack_node(in_module)->module, 5);
    ck_assert_uint_eq(ct_stack_node(inner)->module, 0);
}
END_TEST

/* Ids are of objects; those of a type in a parent are numbered as they come. */
START_TEST(modules_are_a_tree)
{
    ck_assert(ct_stack_tree_init());
    char type[] = "Layer";
    uint32_t model = ct_stack_module_add(0, 3, "Model"),
             first = ct_stack_module_add(model, 5, type);
    uint32_t other = ct_stack_module_add(model, 7, "Linear");
    type[0] = 'x'; /* texts are copies */
    uint32_t second = ct_stack_module_add(model, 9, "Layer");
    ck_assert_uint_eq(ct_stack_module_find(0, 3), model);
    ck_assert_uint_eq(ct_stack_module_find(model, 5), first);
    ck_assert_uint_eq(ct_stack_module_add(model, 5, "Layer"), first);
    ck_assert_uint_eq(ct_stack_module_find(0, 5), CT_STACK_NONE);
    ck_assert_uint_eq(ct_stack_module_find(first, 5), CT_STACK_NONE);
    ck_assert_uint_eq(ct_stack_module(model)->parent, 0);
    ck_assert_uint_eq(ct_stack_module(first)->parent, model);
    ck_assert_str_eq(ct_stack_module(first)->type, "Layer");
    ck_assert_uint_eq(ct_stack_module(first)->number, 0);
    ck_assert_uint_eq(ct_stack_module(second)->number, 1);
    ck_assert_uint_eq(ct_stack_module(second)->same_type, first);
    ck_assert_uint_eq(ct_stack_module(other)->number, 0);
    uint32_t inner = ct_stack_module_add(second, 5, "Layer");
    ck_assert_uint_eq(ct_stack_module(inner)->number, 0);
    ck_assert_uint_eq(ct_stack_module(inner)->same_type, first);
    ck_assert_uint_eq(ct_stack_modules(), 5);
}
END_TEST

/* Beyond the numbers one module stands for all the others; without room the parent does. */
START_TEST(modules_are_bounded)
{
    ck_assert(ct_stack_tree_init());
    uint32_t others = 0, parent = 0;
    for (uint32_t i = 0; i < CT_STACK_ALIKE + 20; i++) {
        uint32_t m = ct_stack_module_add(0, 2 * i + 1, "Loss");
        ck_assert_uint_ne(m, 0);
        ck_assert(i < CT_STACK_ALIKE || !others || m == others);
        others = i < CT_STACK_ALIKE ? 0 : m;
        ck_assert_uint_eq(ct_stack_module(m)->number, others ? CT_STACK_OTHERS : i);
    }
    ck_assert_uint_eq(ct_stack_module_add(0, 1, "Loss"), 1);
    for (unsigned depth = 1; depth <= CT_STACK_MODULE_DEPTH; depth++) {
        uint32_t inner = ct_stack_module_add(parent, 99999, "Again");
        ck_assert_uint_ne(inner, parent);
        parent = inner;
    }
    ck_assert_uint_eq(ct_stack_module_add(parent, 99999, "Again"), parent);
    char type[32];
    uint32_t added = 0;
    for (uint32_t i = 0; i < CT_STACK_MODULES + 20; i++) {
        snprintf(type, sizeof(type), "Type%u", i);
        added += ct_stack_module_add(others, 2 * i + 1, type) != others;
    }
    ck_assert_uint_eq(added + CT_STACK_ALIKE + 1 + CT_STACK_MODULE_DEPTH, CT_STACK_MODULES);
    ck_assert_uint_eq(ct_stack_modules(), CT_STACK_MODULES);
    ck_assert_uint_eq(ct_stack_module_add(0, 3, "Loss"), 2);
}
END_TEST

START_TEST(stacks_are_bounded)
{
    char name[32];
    ck_assert(ct_stack_tree_init());
    uint32_t lines = 0, nodes = 0, ends = 0;
    for (uint32_t i = 0; i < CT_STACK_LINES + 10; i++) {
        snprintf(name, sizeof(name), "f%u", i);
        lines += ct_stack_line_add("a.py", name, i) != UINT32_MAX;
    }
    for (uint32_t i = 0; i < CT_STACK_NODES + 10; i++) {
        uint32_t node = ct_stack_node_add(i / CT_STACK_LINES, i % CT_STACK_LINES, 0);
        nodes += node != CT_STACK_NONE;
        ends += node != CT_STACK_NONE && ct_stack_node_end(node);
    }
    ck_assert_uint_eq(lines, CT_STACK_LINES);
    ck_assert_uint_eq(nodes, CT_STACK_NODES);
    ck_assert_uint_eq(ends, CT_STACKS);
    ck_assert(ct_stack_node_end(1)); /* it is one already */
    ck_assert_uint_eq(ct_stack_line_add("a.py", "f7", 7), 7);
}
END_TEST

START_TEST(texts_are_bounded)
{
    char name[CT_STACK_TEXT_BYTES];
    uint32_t lines = 0;
    ck_assert(ct_stack_tree_init());
    for (uint32_t i = 0; i < 4096; i++) {
        memset(name, 'x', sizeof(name) - 1);
        name[snprintf(name, 16, "%u", i)] = 'x';
        name[sizeof(name) - 1] = '\0';
        lines += ct_stack_line_add("a.py", name, 1) != UINT32_MAX;
    }
    ck_assert_uint_le(lines * sizeof(name), CT_STACK_ALL_TEXT_BYTES);
    ck_assert_uint_gt(lines, 1000);
}
END_TEST

/* Handles that lie close and far; each has the stack that it was given last. */
START_TEST(nodes_keep_their_stacks)
{
    static uint32_t given[4096];
    uint32_t random = 1, puts = 0;
    ct_node_stacks_init(true);
    ck_assert(ct_node_stacks_are_on);
    for (int i = 0; i < 200000; i++) {
        random = random * 1664525 + 1013904223;
        uint32_t n = random >> 20, stack = random >> 8 & 1 ? 0 : 1 + (random >> 9 & 1023);
        CUgraphNode node = (CUgraphNode)(uintptr_t)(n % 2 ? 16 * (n + 1) : (uint64_t)(n + 1) << 34);
        ck_assert_uint_eq(ct_node_stack_find(node), given[n]);
        ct_node_stack_put(node, given[n] = stack);
        ck_assert_uint_eq(ct_node_stack_find(node), stack);
    }
    ct_node_stack_put((CUgraphNode)(uintptr_t)((uint64_t)1 << 50), 1);
    ck_assert_uint_eq(ct_node_stack_find((CUgraphNode)(uintptr_t)((uint64_t)1 << 50)), 0);
    for (uint64_t i = 1; i <= 2 * CT_NODE_STACKS; i++) {
        ct_node_stack_put((CUgraphNode)(uintptr_t)(i << 36 >> 4), 7);
        puts += ct_node_stack_find((CUgraphNode)(uintptr_t)(i << 36 >> 4)) == 7;
    }
    ck_assert_uint_le(puts, CT_NODE_STACKS);
    ck_assert_uint_gt(puts, CT_NODE_STACKS - 4096);
}
END_TEST

START_TEST(names_say_the_role)
{
    static const char *const names[][2] = {
        {"pt_autograd_0", "[autograd: backward]"},
        {"pt_autograd_12", "[autograd: backward]"},
        {"pt_worker", "[thread pt_worker]"},
        {"XLA_gpu/3", "[thread XLA_gpu]"},
        {"7zip-12:5", "[thread #zip]"},
        {"a12b34c", "[thread a#b#c]"},
        {"42", "[thread]"},
        {"", "[thread]"},
        {"1a1a1a1a1a1a1a1", "[thread #a#a#a#a#a#a#a]"},
    };
    for (unsigned i = 0; i < ct_countof(names); i++) {
        char text[64];
        struct ct_text t = ct_text_in(text, sizeof(text));
        ct_stack_name_add(&t, names[i][0]);
        ck_assert_str_eq(text, names[i][1]);
    }
}
END_TEST

/* A thread may be given a name when it has launched already. */
START_TEST(names_are_asked_for_again)
{
    static struct ct_thread thread;
    ck_assert(ct_stack_tree_init());
    ck_assert_int_eq(prctl(PR_SET_NAME, "before_1"), 0);
    uint32_t before = ct_stack_of_name(&thread), launches = 0, now;
    ck_assert_int_eq(prctl(PR_SET_NAME, "before_2"), 0);
    for (int i = 0; i < 10000; i++)
        ck_assert_uint_eq(ct_stack_of_name(&thread), before);
    ck_assert_int_eq(prctl(PR_SET_NAME, "after"), 0);
    while ((now = ct_stack_of_name(&thread)) == before)
        ck_assert_uint_lt(launches++, 5000);
    ck_assert_str_eq(ct_stack_line(ct_stack_node(now)->line)->function, "[thread after]");
    ck_assert_str_eq(ct_stack_line(ct_stack_node(now)->line)->file, "");
    ck_assert_uint_gt(launches, 100);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("python");
    const int n = (int)ct_countof(versions);
    tcase_add_loop_test(tests, frames_are_read, 0, n);
    tcase_add_loop_test(tests, other_stacks_have_other_marks, 0, n);
    tcase_add_loop_test(tests, garbled_frames_are_refused, 0, n);
    tcase_add_loop_test(tests, modules_are_known, 0, n);
    tcase_add_loop_test(tests, other_modules_have_other_marks, 0, n);
    tcase_add_loop_test(tests, names_end_with_a_page, 0, n);
    tcase_add_loop_test(tests, cells_are_looked_into, 0, n);
    tcase_add_loop_test(tests, garbled_modules_are_none, 0, n);
    tcase_add_loop_test(tests, other_objects_are_no_code, 0, n);
    tcase_add_loop_test(tests, frames_are_skipped, 0, n);
    tcase_add_loop_test(tests, circles_end, 0, n);
    tcase_add_test(tests, texts_become_utf8);
    tcase_add_loop_test(tests, frames_are_checked, 0, n);
    tcase_add_test(tests, stacks_are_a_tree);
    tcase_add_test(tests, stacks_are_bounded);
    tcase_add_test(tests, modules_are_a_tree);
    tcase_add_test(tests, modules_are_bounded);
    tcase_add_test(tests, texts_are_bounded);
    tcase_add_test(tests, nodes_keep_their_stacks);
    tcase_add_test(tests, names_say_the_role);
    tcase_add_test(tests, names_are_asked_for_again);
    return ct_case_main("python", tests);
}
