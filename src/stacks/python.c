/* SPDX-License-Identifier: MIT */
#include "stacks/python.h"

#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/text.h"
#include "system/elf.h"
#include "system/spare.h"

#define OLD "this version of Python is not known"

/* A type: where its size, the size of an item, and the list of its members are, and one of these.
 */
#define TYPE_BASIC_SIZE 32
#define TYPE_MEMBERS 240
#define MEMBER_BYTES 40
#define MEMBER_OFFSET 16

#define MOST_CHECKED 64 /* frames */

static bool take_symbols(const struct ct_object *o, void *arg)
{
    struct ct_python_symbols *s = arg;
    if (!ct_object_symbol(o, "PyGILState_GetThisThreadState") || !ct_object_symbol(o, "_PyRuntime"))
        return false;
#define X(name, type)                                                                              \
    {                                                                                              \
        void *at = ct_object_symbol(o, #name);                                                     \
        __builtin_memcpy(&s->name, &at, sizeof(at));                                               \
    }
    CT_PY_SYMBOLS(X)
#undef X
    return true;
}

/* A program that has an interpreter of its own comes before the libraries. */
bool ct_python_find(struct ct_interpreter *i)
{
    *i = (struct ct_interpreter){.is_finalizing = NULL};
    return ct_objects_visit(take_symbols, &i->of);
}

/* "3.10.13 (main, ...": all versions have it, also before they are started. 0: it is not that. */
static uint32_t version_of(const char *text)
{
    uint32_t part[2] = {0, 0};
    for (unsigned i = 0; i < 2; i++, text++) {
        for (; *text >= '0' && *text <= '9'; text++)
            part[i] = 10 * part[i] + (uint32_t)(*text - '0');
        if (*text != '.')
            return 0;
    }
    return part[0] << 8 | part[1];
}

/* The offset that CPython itself tells of a code object's member; 0: it tells none. */
static uint16_t told(const char *type, const char *name)
{
    const char *member = ct_py_pointer(type + TYPE_MEMBERS);
    for (unsigned i = 0; member && i < 64; i++, member += MEMBER_BYTES) {
        const char *known = ct_py_pointer(member);
        if (!known)
            return 0;
        if (ct_streq(known, name))
            return (uint16_t)ct_py_word(member + MEMBER_OFFSET);
    }
    return 0;
}

static bool has_members(const struct ct_py_layout *l, const char *type)
{
    static const char *const tables[] = {[CT_PY_LNOTAB] = "co_lnotab",
                                         [CT_PY_LINETABLE] = "co_linetable",
                                         [CT_PY_LOCATIONS] = "co_linetable"};
    bool is_qualified = l->lines == CT_PY_LOCATIONS;
    return told(type, "co_filename") == l->file && told(type, "co_firstlineno") == l->first_line &&
           told(type, is_qualified ? "co_qualname" : "co_name") == l->name &&
           told(type, tables[l->lines]) == l->table && told(type, "co_argcount") == l->arguments &&
           told(type, "co_name") == l->own_name &&
           (is_qualified ||
            (told(type, "co_nlocals") == l->locals_before_cells &&
             told(type, "co_varnames") == l->names && told(type, "co_cellvars") == l->cells)) &&
           (l->lasti_bytes || ct_py_word(type + TYPE_BASIC_SIZE) == l->start);
}

/* CPython's own table, which begins _PyRuntime since 3.13: where in it a figure is, for 3.13, 3.14.
 */
struct figure {
    uint16_t at[2];
    uint16_t wanted;
};

static bool has_figures(const struct ct_py_layout *l, const char *runtime)
{
    const struct figure figures[] = {
        {{184, 208}, l->state_frame}, {{232, 256}, l->back},
        {{240, 264}, l->code},        {{248, 272}, l->instruction},
        {{264, 288}, l->owner},       {{280, 320}, l->file},
        {{296, 336}, l->name},        {{304, 344}, l->table},
        {{312, 352}, l->first_line},  {{344, 384}, l->start},
        {{256, 280}, l->locals},      {{320, 360}, l->arguments},
        {{328, 368}, l->names},       {{376, 424}, CT_PY_TYPE_NAME},
        {{408, 456}, l->items},       {{16, 16}, 0},
    };
    bool is_14 = l->version == (3 << 8 | 14);
    if (!ct_same_text("xdebugpy", runtime, 8) || ct_py_word(runtime + 8) >> 16 != l->version)
        return false;
    for (unsigned i = 0; i < ct_countof(figures); i++)
        if (ct_py_word(runtime + figures[i].at[is_14]) != figures[i].wanted)
            return false;
    return true;
}

const char *ct_python_check(struct ct_interpreter *i)
{
    const struct ct_python_symbols *s = &i->of;
    if (!s->Py_GetVersion || !s->PyCode_Type || !s->PyCell_Type || !s->PyType_Type ||
        !s->PyCode_Addr2Line || !s->PyFrame_GetLineNumber || !s->PyInterpreterState_Head ||
        !s->PyInterpreterState_Next)
        return "this Python does not export what is needed";
    const struct ct_py_layout *l = ct_py_layout_of(version_of(s->Py_GetVersion()));
    i->is_finalizing = s->Py_IsFinalizing ? s->Py_IsFinalizing : s->_Py_IsFinalizing;
    if (!l || !i->is_finalizing)
        return OLD;
    if (ct_py_pointer(s->PyCode_Type + CT_PY_TYPE) != s->PyType_Type)
        return "objects of this Python have headers of another build";
    if (!has_members(l, s->PyCode_Type))
        return "code objects of this Python are not laid out as its version has them";
    if (l->version >= (3 << 8 | 13) && !has_figures(l, s->_PyRuntime))
        return "frames of this Python are not laid out as its version has them";
    if (l->version >= (3 << 8 | 12) && !s->PyUnstable_InterpreterFrame_GetLine)
        return OLD;
    i->python =
        (struct ct_python){.layout = l, .code_type = s->PyCode_Type, .cell_type = s->PyCell_Type};
    i->asks_for_others = l->version < (3 << 8 | 12);
    return NULL;
}

/* Whether so many bytes are there: an address that is none is an error to the kernel, no crash. */
static bool is_readable(const char *at, size_t bytes)
{
    char copy[256];
    while (bytes) {
        size_t part = ct_min(bytes, sizeof(copy));
        struct iovec to = {copy, part}, from = {(void *)(uintptr_t)at, part};
        if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) != (ssize_t)part)
            return false;
        at += part;
        bytes -= part;
    }
    return true;
}

static bool is_text(const struct ct_py_layout *l, const char *object)
{
    char text[64];
    if (!ct_py_is_address(object) || !is_readable(object, l->other_text))
        return false;
    uint64_t bytes = ct_min(ct_py_word(object + CT_PY_TEXT_LENGTH), 4096) *
                     (ct_py_half(object + CT_PY_TEXT_STATE) >> 2 & 7);
    return is_readable(object + l->ascii_text, bytes) &&
           ct_py_text(l, object, text, sizeof(text)) && *text;
}

static bool is_code(const struct ct_py_layout *l, const char *code)
{
    if (!ct_py_is_address(code) || !is_readable(code, l->start + 8))
        return false;
    const char *table = ct_py_pointer(code + l->table);
    return ct_py_is_address(table) && is_readable(table, CT_PY_BYTES) &&
           ct_py_word(table + CT_PY_SIZE) < 1 << 20 &&
           is_readable(table + CT_PY_BYTES, ct_py_word(table + CT_PY_SIZE)) &&
           is_text(l, ct_py_pointer(code + l->file)) && is_text(l, ct_py_pointer(code + l->name)) &&
           is_text(l, ct_py_pointer(code + l->own_name));
}

/* Whether the first argument, if there is one, has a name, and is an object with a type. */
static bool has_first_argument(const struct ct_py_layout *l, const char *frame, const char *code)
{
    const char *names = ct_py_pointer(code + l->names);
    const char *object = ct_py_held(l, frame + l->locals);
    if (!ct_py_half(code + l->arguments))
        return true;
    if (!ct_py_is_address(names) || !is_readable(names, l->items + 8) ||
        !is_text(l, ct_py_pointer(names + l->items)))
        return false;
    if (!object)
        return true;
    if (!ct_py_is_address(object) || !is_readable(object, CT_PY_TYPE + 8))
        return false;
    const char *type = ct_py_pointer(object + CT_PY_TYPE);
    return ct_py_is_address(type) && is_readable(type, CT_PY_TYPE_NAME + 8);
}

/*
 * The line of a frame by CPython's function for that, which only reads: with the frame itself where
 * that is an object, up to 3.10, and where there is a function for frames that are none,
 * since 3.12. 3.11 has neither: it is given an object that says nothing but which frame it is of.
 */
static int line_by_python(const struct ct_interpreter *i, const char *frame)
{
    const struct ct_py_layout *l = i->python.layout;
    const void *object[8] = {[3] = frame};
    if (l->version == (3 << 8 | 11))
        return i->of.PyFrame_GetLineNumber(object);
    return i->of.PyUnstable_InterpreterFrame_GetLine
               ? i->of.PyUnstable_InterpreterFrame_GetLine(frame)
               : i->of.PyFrame_GetLineNumber(frame);
}

/* In two parts, so that one page at least is read where no other follows. */
void ct_python_type_name(const char *type, char *name, size_t size)
{
    char *from = (char *)(uintptr_t)ct_py_pointer(type + CT_PY_TYPE_NAME);
    int saved_errno = errno;
    size_t in_page = ct_min(size - 1, 4096 - ((uintptr_t)from & 4095));
    struct iovec to = {name, size - 1};
    struct iovec parts[] = {{from, in_page}, {from + in_page, size - 1 - in_page}};
    ssize_t got = process_vm_readv(getpid(), &to, 1, parts, ct_countof(parts), 0);
    name[got > 0 ? got : 0] = '\0';
    errno = saved_errno;
}

static const char *check_frame(const struct ct_interpreter *i, const char *frame, bool *tried)
{
    static const char differs[] = "frames of this Python do not read as Python itself reads them";
    const struct ct_python *p = &i->python;
    struct ct_py_spot spot;
    uint8_t owner = p->layout->owner == CT_PY_NONE ? 0 : (uint8_t)frame[p->layout->owner];
    if (p->layout->first_shim && owner >= p->layout->first_shim)
        return NULL;
    const char *code = ct_py_code_of(p, frame);
    if (!ct_py_is_address(code) || !is_readable(code, CT_PY_TYPE + 8))
        return differs;
    if (ct_py_pointer(code + CT_PY_TYPE) == p->code_type && !is_code(p->layout, code))
        return differs;
    enum ct_py_look look = ct_py_look_at(p, frame, &spot);
    if (look != CT_PY_FRAME)
        return look == CT_PY_GARBLED ? differs : NULL;
    if (!has_first_argument(p->layout, frame, code))
        return differs;
    int line = (int)ct_py_line(p->layout, &spot), by_code = -1, by_frame = -1;
    by_code = i->of.PyCode_Addr2Line(code, spot.offset);
    by_frame = line_by_python(i, frame);
    *tried = true;
    return line == (by_code < 0 ? 0 : by_code) && by_code == by_frame ? NULL : differs;
}

const char *ct_python_check_frames(const struct ct_interpreter *i, const char *frame, bool *tried)
{
    const char *wrong = NULL;
    int saved_errno = errno;
    *tried = false;
    if (ct_spare() || !is_readable((const char *)&i, sizeof(i)))
        wrong = "the kernel does not let memory be read that may not be there";
    for (unsigned n = 0; !wrong && frame && n < MOST_CHECKED; n++) {
        if (!ct_py_is_address(frame) || !is_readable(frame, ct_py_frame_bytes(i->python.layout)))
            wrong = "frames of this Python are not where its version has them";
        else if (!(wrong = check_frame(i, frame, tried)))
            frame = ct_py_back(&i->python, frame);
    }
    errno = saved_errno;
    return wrong;
}
