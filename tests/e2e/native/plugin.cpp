// SPDX-License-Identifier: MIT
//
// A library that is opened and closed; ROOM bytes of its frame make two of one size that unwind in two ways.
extern "C" __attribute__((visibility("default"))) void plugin_call(void (*call)());

void plugin_call(void (*call)())
{
    volatile char room[ROOM];
    room[0] = 1;
    call();
    room[1] = room[0];
}
