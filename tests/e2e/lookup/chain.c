/* SPDX-License-Identifier: MIT */
/*
 * A link of a chain, compiled with CHAIN_NAME: marker() says its name and calls the next one, which
 * is found from the address this code is at.
 */
#include <dlfcn.h>
#include <stdio.h>

void marker(void);

void marker(void)
{
    void (*next)(void) = (void (*)(void))dlsym(RTLD_NEXT, "marker");
    puts(CHAIN_NAME);
    if (next)
        next();
}
