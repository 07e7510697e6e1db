/* SPDX-License-Identifier: MIT */
#include "page/json.h"

#include <math.h>
#include <string.h>

#include "report/names.h"
#include "report/short_names.h"

static json_t *checked(json_t *value)
{
    if (!value)
        ct_memory_fail();
    return value;
}

json_t *ct_json_object(void)
{
    return checked(json_object());
}

json_t *ct_json_array(void)
{
    return checked(json_array());
}

static json_t *of_count(uint64_t value)
{
    return checked(json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value));
}

void ct_json_set(json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, checked(value)))
        ct_memory_fail();
}

void ct_json_count(json_t *object, const char *key, uint64_t value)
{
    ct_json_set(object, key, of_count(value));
}

void ct_json_real(json_t *object, const char *key, double value)
{
    ct_json_set(object, key, json_real(isfinite(value) ? value : 0));
}

void ct_json_flag(json_t *object, const char *key, bool value)
{
    ct_json_set(object, key, json_boolean(value));
}

void ct_json_text(json_t *object, const char *key, const char *text)
{
    ct_json_set(object, key, json_string(text));
}

void ct_json_safe(json_t *object, const char *key, const char *text)
{
    struct ct_string safe = {0};
    ct_name_safe(&safe, text);
    ct_json_text(object, key, safe.data);
    ct_string_free(&safe);
}

void ct_json_append(json_t *array, json_t *value)
{
    if (json_array_append_new(array, checked(value)))
        ct_memory_fail();
}

void ct_json_append_count(json_t *array, uint64_t value)
{
    ct_json_append(array, of_count(value));
}

void ct_json_append_text(json_t *array, const char *text)
{
    ct_json_append(array, json_string(text));
}

void ct_json_add_short(json_t *array, const char *from, const char *to)
{
    size_t count = json_array_size(array);
    const char **names = ct_memory_array(count, sizeof(*names));
    for (size_t i = 0; i < count; i++)
        names[i] = json_string_value(json_object_get(json_array_get(array, i), from));
    char **short_names = ct_short_names(names, count);
    for (size_t i = 0; i < count; i++)
        ct_json_text(json_array_get(array, i), to, short_names[i]);
    ct_short_names_free(short_names, count);
    free(names);
}

/* Only texts of JSON have '<' in them, and a text may have it as its number. */
static int put_inert(const char *text, size_t len, void *file)
{
    FILE *out = file;
    for (const char *at; len && (at = memchr(text, '<', len)); text = at + 1) {
        size_t before = (size_t)(at - text);
        fwrite(text, 1, before, out);
        fputs("\\u003c", out);
        len -= before + 1;
    }
    fwrite(text, 1, len, out);
    return ferror(out) ? -1 : 0;
}

void ct_json_print(FILE *out, json_t *value)
{
    if (json_dump_callback(value, put_inert, out, JSON_COMPACT | JSON_ENSURE_ASCII) && !ferror(out))
        ct_memory_fail();
    json_decref(value);
}
