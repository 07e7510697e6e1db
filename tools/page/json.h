/* SPDX-License-Identifier: MIT */
/* Values for the page. A value belongs to the object or array that it is added to. */
#ifndef CT_PAGE_JSON_H
#define CT_PAGE_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

json_t *ct_json_object(void);
json_t *ct_json_array(void);

void ct_json_set(json_t *object, const char *key, json_t *value);
void ct_json_count(json_t *object, const char *key, uint64_t value);
void ct_json_real(json_t *object, const char *key, double value);
void ct_json_flag(json_t *object, const char *key, bool value);

/* Text that names.h has made safe to show. */
void ct_json_text(json_t *object, const char *key, const char *text);
/* Text that has yet to be made safe. */
void ct_json_safe(json_t *object, const char *key, const char *text);

void ct_json_append(json_t *array, json_t *value);
void ct_json_append_count(json_t *array, uint64_t value);
void ct_json_append_text(json_t *array, const char *text);

/* Gives each object of an array a short form of its text `from` as `to` (report/short_names.h). */
void ct_json_add_short(json_t *array, const char *from, const char *to);

/* For the inside of a script element: no text of the profile can end it. Frees the value. */
void ct_json_print(FILE *out, json_t *value);

#endif
