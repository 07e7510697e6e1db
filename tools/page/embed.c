/* SPDX-License-Identifier: MIT */
#include "page/embed.h"

/* CT_PAGE_DIR is the directory of the build that has the files. */
#define EMBED(name, file)                                                                          \
    __asm__(".pushsection .rodata\n"                                                               \
            "ct_page_" #name ":\n"                                                                 \
            ".incbin \"" CT_PAGE_DIR "/" file "\"\n"                                               \
            "ct_page_" #name "_end:\n"                                                             \
            ".popsection");                                                                        \
    extern const char ct_page_##name[], ct_page_##name##_end[];                                    \
    struct ct_embedded ct_embed_##name(void)                                                       \
    {                                                                                              \
        return (struct ct_embedded){ct_page_##name,                                                \
                                    (size_t)(ct_page_##name##_end - ct_page_##name)};              \
    }

EMBED(head, "head.html")
EMBED(tail, "tail.html")
