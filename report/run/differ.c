/* differ: see differ.h. */
#define _GNU_SOURCE
#include "report/run/differ.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VALUE_SHOWN 60

/* A value as short text; malloced. */
static char *short_text(const json_t *value) {
    if (!value || json_is_null(value)) return strdup(DIFFER_NONE);
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(10)),
         *shorter = NULL;
    if (!text || strlen(text) <= VALUE_SHOWN) return text;
    int cut = VALUE_SHOWN;
    /* not within a UTF-8 character */
    while (cut > 0 && ((unsigned char)text[cut] & 0xc0) == 0x80) cut--;
    if (asprintf(&shorter, "%.*s...", cut, text) < 0) shorter = NULL;
    free(text);
    return shorter;
}

/* Compares one member of two objects; either object may lack it. */
static int differ_at(const char *path, const json_t *base, const json_t *new, differ_found *found,
                     void *to) {
    bool none = (!base || json_is_null(base)) && (!new || json_is_null(new));
    if (none || json_equal(base, new)) return 0;
    if (json_is_object(base) && json_is_object(new))
        return differ_objects(path, base, new, found, to);
    char *was = short_text(base), *is = short_text(new);
    int rc = was && is ? found(to, path, was, is) : -1;
    free(was);
    free(is);
    return rc;
}

/* The activity of the machine differs from run to run, and so does the advice about it. */
static bool is_passing(const char *key) {
    return strstr(key, "_before") || strcmp(key, "advice") == 0;
}

int differ_objects(const char *path, const json_t *base, const json_t *new, differ_found *found,
                   void *to) {
    const char *key;
    json_t *value;
    char inner[200];
    int rc = 0;
    json_object_foreach((json_t *)(uintptr_t) new, key, value) {
        if (rc != 0) return rc;
        if (is_passing(key)) continue;
        snprintf(inner, sizeof inner, "%s.%s", path, key);
        rc = differ_at(inner, json_object_get(base, key), value, found, to);
    }
    json_object_foreach((json_t *)(uintptr_t)base, key, value) {
        if (rc != 0) return rc;
        if (json_object_get(new, key) || is_passing(key)) continue;
        snprintf(inner, sizeof inner, "%s.%s", path, key);
        rc = differ_at(inner, value, NULL, found, to);
    }
    return rc;
}
