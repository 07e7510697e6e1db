/* SPDX-License-Identifier: MIT */
#include "report/matrix_name.h"

#include <ctype.h>
#include <string.h>

/* Words that a name is made of, with their lengths. */
struct word {
    const char *at;
    size_t len;
};

/* Parts of the short name, in its order. */
enum part { KIND, TILE, TYPE, LAYOUT, PARTS };

static bool is_word(struct word w, const char *text)
{
    return w.len == strlen(text) && !strncmp(w.at, text, w.len);
}

static bool ends_with(struct word w, const char *text)
{
    size_t len = strlen(text);
    return w.len >= len && !strncmp(w.at + w.len - len, text, len);
}

/* "gemm" of "s16816gemm"; "sgemm" as it is, which says the type; or the kind of a convolution. */
static bool find_kind(struct word w, struct word *part)
{
    static const char *const whole[] = {"fprop", "dgrad", "wgrad", "nvjet"};
    for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
        if (is_word(w, whole[i])) {
            *part = w;
            return true;
        }
    if (!ends_with(w, "gemm"))
        return false;
    size_t len = w.len == 5 && strchr("sdhcz", *w.at) ? 5 : 4;
    *part = (struct word){w.at + w.len - len, len};
    return true;
}

/* "128x64" or "128x64x32", also behind "tilesize" */
static bool find_tile(struct word w, struct word *part)
{
    static const char before[] = "tilesize";
    size_t skip = w.len > sizeof(before) - 1 && !strncmp(w.at, before, sizeof(before) - 1)
                      ? sizeof(before) - 1
                      : 0;
    unsigned numbers = 0;
    for (size_t i = skip; i < w.len; i++) {
        bool begins = i == skip || w.at[i - 1] == 'x';
        if (!isdigit((unsigned char)w.at[i]) && (w.at[i] != 'x' || begins || i + 1 == w.len))
            return false;
        numbers += begins;
    }
    *part = (struct word){w.at + skip, w.len - skip};
    return numbers == 2 || numbers == 3;
}

/* Length of the type that the text begins with; 0: none that is known. */
static size_t type_at(const char *text, size_t most)
{
    static const char *const types[] = {"bf16", "f16",  "fp16", "f32",  "fp32", "tf32",
                                        "f64",  "fp64", "e4m3", "e5m2", "i8",   "s8"};
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        size_t len = strlen(types[i]);
        if (len <= most && !strncmp(text, types[i], len))
            return len;
    }
    return 0;
}

/* "bf16", or "tf32" of "tf32f32", which has another type behind it */
static bool find_type(struct word w, struct word *part)
{
    size_t len = type_at(w.at, w.len), rest = w.len - len;
    *part = (struct word){w.at, len};
    return len && (!rest || type_at(w.at + len, rest) == rest);
}

/* "tn", or "NNT" with the result's */
static bool find_layout(struct word w, struct word *part)
{
    *part = w;
    return (w.len == 2 && strspn(w.at, "nt") >= 2) || (w.len == 3 && strspn(w.at, "NT") >= 3);
}

static bool (*const find[PARTS])(struct word w, struct word *part) = {find_kind, find_tile,
                                                                      find_type, find_layout};

/* Split along k, into sums that are added up later: another kernel, alike but for that word. */
static bool is_split(const char *name)
{
    return strstr(name, "split_k") || strstr(name, "splitK");
}

bool ct_matrix_name(struct ct_string *to, const char *name)
{
    bool split = is_split(name);
    static const char joints[] = "_<>(),: ";
    struct word parts[PARTS] = {{NULL, 0}};
    while (*(name += strspn(name, joints))) {
        struct word w = {name, strcspn(name, joints)}, part;
        for (int i = 0; i < PARTS; i++)
            if (!parts[i].len && find[i](w, &part)) {
                parts[i] = part;
                break;
            }
        name += w.len;
    }
    if (!parts[KIND].len || !parts[TILE].len)
        return false;
    for (int i = 0; i < PARTS; i++) {
        ct_string_put(to, i && parts[i].len ? " " : "");
        ct_string_add(to, parts[i].at ? parts[i].at : "", parts[i].len);
    }
    ct_string_put(to, split ? " split-k" : "");
    return true;
}
