/* SPDX-License-Identifier: MIT */
/* Opened RTLD_LOCAL: what it finds by RTLD_DEFAULT depends on whose call it is. */
#include <dlfcn.h>
#include <stdio.h>

void plugin_private(void);
void plugin_run(void);

void plugin_private(void)
{
}

void plugin_run(void)
{
    printf("own symbol by RTLD_DEFAULT: %s\n",
           dlsym(RTLD_DEFAULT, "plugin_private") == (void *)plugin_private ? "found" : "not found");
    printf("by RTLD_NEXT: %s\n", dlsym(RTLD_NEXT, "plugin_private") ? "found" : "not found");
    printf("malloc by RTLD_NEXT: %s\n", dlsym(RTLD_NEXT, "malloc") ? "found" : "not found");
    dlerror();
    printf("cuInit where there is no CUDA: %s, ",
           dlsym(RTLD_DEFAULT, "cuInit") ? "found" : "not found");
    printf("%s\n", dlerror() ? "an error" : "no error");
}
