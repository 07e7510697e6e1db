// SPDX-License-Identifier: MIT
//
// Compiled with frame pointers: the caller's is there, and the return address is behind it.
#include "program.h"

__attribute__((noinline)) static void with(void **at, void (*call)(), void *value)
{
    void *volatile *word = at;
    void *before = *word;
    *word = value;
    call();
    *word = before;
    keep();
}

__attribute__((noinline)) void garble_return(void (*call)(), void *value)
{
    with((void **)__builtin_frame_address(0) + 1, call, value);
    keep();
}

__attribute__((noinline)) static void inner(void (*call)(), void *value)
{
    with((void **)__builtin_frame_address(0), call, value);
    keep();
}

__attribute__((noinline)) void garble_pointer(void (*call)(), void *value)
{
    void **volatile frame = (void **)__builtin_frame_address(0);
    inner(call, value);
    keep();
    (void)frame;
}
