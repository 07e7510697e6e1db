// SPDX-License-Identifier: MIT
#pragma once

void keep();

/* Calls with the return address of this frame, or its frame pointer, overwritten meanwhile. */
void garble_return(void (*call)(), void *value);
void garble_pointer(void (*call)(), void *value);
