/* SPDX-License-Identifier: MIT */
/* A program without NCCL, that asks whether there is one: what we export must not look like it. */
#include <dlfcn.h>
#include <stdio.h>

extern int ncclAlltoAll(void) __attribute__((weak));
extern int ncclCommCount(void) __attribute__((weak));

int main(void)
{
    static const char *const names[] = {"ncclAllReduce", "ncclGroupStart", "ncclCommCount",
                                        "ncclAlltoAll"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        printf("%s %d\n", names[i], dlsym(RTLD_DEFAULT, names[i]) != NULL);
    printf("%d %d\n", ncclAlltoAll != NULL, ncclCommCount != NULL);
    return 0;
}
