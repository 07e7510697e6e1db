/* SPDX-License-Identifier: MIT */
#include "stacks/python_layout.h"

#define VERSION(major, minor) ((major) << 8 | (minor))

#define UP_TO_10(minor, unit, form, lasti, locals_at)                                              \
    {                                                                                              \
        .version = VERSION(3, minor), .lasti_bytes = unit, .lines = form, .state_frame = 24,       \
        .inner_frame = CT_PY_NONE, .back = 24, .code = 32, .instruction = lasti,                   \
        .owner = CT_PY_NONE, .locals = locals_at, .arguments = 16, .names = 72, .own_name = 112,   \
        .locals_before_cells = 28, .cells = 88, .cell_arguments = 96, .first_line = 40,            \
        .file = 104, .name = 112, .table = 120, .traceable = CT_PY_NONE, .start = 48, .items = 24, \
        .ascii_text = 48, .other_text = 72                                                         \
    }

static const struct ct_py_layout layouts[] = {
    UP_TO_10(8, 1, CT_PY_LNOTAB, 104, 360),
    UP_TO_10(9, 1, CT_PY_LNOTAB, 104, 360),
    UP_TO_10(10, 2, CT_PY_LINETABLE, 96, 352),
    {
        .version = VERSION(3, 11),
        .first_shim = 3,
        .lines = CT_PY_LOCATIONS,
        .state_frame = 56,
        .inner_frame = 8,
        .back = 48,
        .code = 32,
        .instruction = 56,
        .owner = 69,
        .locals = 72,
        .arguments = 56,
        .names = 96,
        .own_name = 120,
        .first_line = 72,
        .file = 112,
        .name = 128,
        .table = 136,
        .traceable = 168,
        .start = 184,
        .items = 24,
        .ascii_text = 48,
        .other_text = 72,
    },
    {
        .version = VERSION(3, 12),
        .first_shim = 3,
        .lines = CT_PY_LOCATIONS,
        .state_frame = 56,
        .inner_frame = 0,
        .back = 8,
        .code = 0,
        .instruction = 56,
        .owner = 70,
        .locals = 72,
        .arguments = 52,
        .names = 96,
        .own_name = 120,
        .first_line = 68,
        .file = 112,
        .name = 128,
        .table = 136,
        .traceable = 176,
        .start = 192,
        .items = 24,
        .ascii_text = 40,
        .other_text = 56,
    },
    {
        .version = VERSION(3, 13),
        .may_be_no_code = true,
        .first_shim = 3,
        .lines = CT_PY_LOCATIONS,
        .state_frame = 72,
        .inner_frame = CT_PY_NONE,
        .back = 8,
        .code = 0,
        .instruction = 56,
        .owner = 70,
        .locals = 72,
        .arguments = 52,
        .names = 96,
        .own_name = 120,
        .first_line = 68,
        .file = 112,
        .name = 128,
        .table = 136,
        .traceable = 184,
        .start = 200,
        .items = 24,
        .ascii_text = 40,
        .other_text = 56,
    },
    {
        .version = VERSION(3, 14),
        .may_be_no_code = true,
        .is_tagged = true,
        .first_shim = 3,
        .lines = CT_PY_LOCATIONS,
        .state_frame = 72,
        .inner_frame = CT_PY_NONE,
        .back = 8,
        .code = 0,
        .instruction = 56,
        .owner = 74,
        .locals = 80,
        .arguments = 52,
        .names = 96,
        .own_name = 120,
        .first_line = 68,
        .file = 112,
        .name = 128,
        .table = 136,
        .traceable = 192,
        .start = 208,
        .items = 32,
        .ascii_text = 40,
        .other_text = 56,
    },
};

const struct ct_py_layout *ct_py_layout_of(uint32_t version)
{
    for (unsigned i = 0; i < ct_countof(layouts); i++)
        if (layouts[i].version == version)
            return &layouts[i];
    return NULL;
}
