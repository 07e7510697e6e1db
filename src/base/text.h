/* SPDX-License-Identifier: MIT */
/* Text without stdio, locale or malloc. */
#ifndef CT_TEXT_H
#define CT_TEXT_H

#include "base/base.h"

/* A text built in a caller's array: always terminated, cut when the array is full. */
struct ct_text {
    char *data;
    size_t len;
    size_t size;
};

struct ct_text ct_text_in(char *data, size_t size);
void ct_text_add(struct ct_text *t, const char *s);
void ct_text_add_char(struct ct_text *t, char c);
void ct_text_add_u64(struct ct_text *t, uint64_t n);
bool ct_text_full(const struct ct_text *t);

size_t ct_strlen(const char *s);
bool ct_streq(const char *a, const char *b);
bool ct_starts_with(const char *s, const char *start);
bool ct_contains(const char *s, const char *part);
/* The part of a path behind its last slash. */
const char *ct_file_name(const char *path);
/* Whether the file is the library `name` ("libcuda.so"), of whatever version. */
bool ct_is_library(const char *path, const char *name);
uint64_t ct_hash_text(const char *s);
uint64_t ct_hash_bytes(const char *s, size_t len);
/* The length, at most `most`. */
size_t ct_strnlen(const char *s, size_t most);
/* Whether a is the len bytes at b, which hold no zero. */
bool ct_same_text(const char *a, const char *b, size_t len);

/* Reads a decimal number that fills the whole string; false: there is none, or it is too large. */
bool ct_parse_u64(const char *s, uint64_t *value);

/* Takes the next number off a list with commas between; false: there are no more. */
bool ct_list_next(const char **list, uint64_t *number);
/* Whether s matches the shell pattern of len bytes, in which * and ? have a meaning. */
bool ct_glob(const char *pattern, size_t len, const char *s);

#endif
