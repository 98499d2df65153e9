/* options: see options.h. */
#include "bench/workload/options.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "bench/workload/plan.h"
#include "bench/workload/text.h"

static int64_t *whole_at(const struct lb_option *option, void *options) {
    return (int64_t *)((char *)options + option->offset);
}

static int64_t whole_of(const struct lb_option *option, const void *options) {
    return *(const int64_t *)((const char *)options + option->offset);
}

static double real_of(const struct lb_option *option, const void *options) {
    return *(const double *)((const char *)options + option->offset);
}

static const char *text_of(const struct lb_option *option, const void *options) {
    const char *value = *(const char *const *)((const char *)options + option->offset);
    return value ? value : "";
}

/* A table's limits are doubles; the greatest whole ones are not exact there. */
static int64_t whole_limit(double limit) {
    if (limit >= 0x1p63) return INT64_MAX;
    return limit <= -0x1p63 ? INT64_MIN : (int64_t)limit;
}

int option_read(const struct lb_option *option, void *options, const char *text,
                struct arena *arena, struct lb_err *err) {
    int64_t whole = 0, min = whole_limit(option->min), max = whole_limit(option->max);
    bool yes = false;
    int index = 0;
    switch (option->type) {
    case LB_OPT_INT:
        if (text_int(text, min, max, &whole, err)) return -1;
        *whole_at(option, options) = whole;
        return 0;
    case LB_OPT_DURATION:
        if (text_duration(text, min, max, &whole, err)) return -1;
        *whole_at(option, options) = whole;
        return 0;
    case LB_OPT_REAL:
        return text_real(text, option->min, option->max,
                         (double *)((char *)options + option->offset), err);
    case LB_OPT_BOOL:
        if (text_bool(text, &yes, err)) return -1;
        *whole_at(option, options) = yes;
        return 0;
    case LB_OPT_CHOICE:
        if (text_choice(text, option->choices, &index, err)) return -1;
        *whole_at(option, options) = index;
        return 0;
    case LB_OPT_TEXT: {
        const char *copy = arena_text(arena, text);
        if (!copy) return err_set(err, LB_EXIT_MACHINE, "out of memory");
        *(const char **)((char *)options + option->offset) = copy;
        return 0;
    }
    }
    return err_set(err, LB_EXIT_USAGE, "the driver's option table is wrong");
}

void *options_new(const struct lb_option *table, size_t bytes, struct arena *arena,
                  struct lb_err *err) {
    void *options = arena_alloc(arena, bytes);
    if (!options) {
        err_set(err, LB_EXIT_MACHINE, "out of memory");
        return NULL;
    }
    for (const struct lb_option *option = table; option && option->name; option++) {
        if (!option->def) continue; /* zero, or no text */
        if (option_read(option, options, option->def, arena, err)) {
            err_prefix(err, "%s: its own default", option->name);
            return NULL;
        }
    }
    return options;
}

const struct lb_option *options_find(const struct lb_option *table, const char *name) {
    for (const struct lb_option *option = table; option && option->name; option++) {
        if (strcmp(option->name, name) == 0) return option;
    }
    return NULL;
}

void options_offer(const struct lb_option *table, struct nearest *nearest) {
    for (const struct lb_option *option = table; option && option->name; option++) {
        nearest_offer(nearest, option->name);
    }
}

char *option_allowed(const struct lb_option *option, char *text, size_t size) {
    char low[40], high[40], list[200];
    switch (option->type) {
    case LB_OPT_INT:
        snprintf(text, size, "a whole number, %lld to %lld", (long long)whole_limit(option->min),
                 (long long)whole_limit(option->max));
        break;
    case LB_OPT_DURATION:
        snprintf(text, size, "a duration, %s to %s",
                 duration_text(whole_limit(option->min), low, sizeof low),
                 duration_text(whole_limit(option->max), high, sizeof high));
        break;
    case LB_OPT_REAL:
        snprintf(text, size, "a number, %s to %s", real_text(option->min, low, sizeof low),
                 real_text(option->max, high, sizeof high));
        break;
    case LB_OPT_BOOL:
        snprintf(text, size, "yes or no");
        break;
    case LB_OPT_CHOICE:
        snprintf(text, size, "%s", text_choices(option->choices, list, sizeof list));
        break;
    case LB_OPT_TEXT:
        snprintf(text, size, "text");
        break;
    }
    return text;
}

const char *option_type(const struct lb_option *option) {
    static const char *const names[] = {"int", "duration", "real", "bool", "choice", "text"};
    return names[option->type];
}

char *option_text(const struct lb_option *option, const void *options, char *text, size_t size) {
    switch (option->type) {
    case LB_OPT_INT:
        snprintf(text, size, "%lld", (long long)whole_of(option, options));
        break;
    case LB_OPT_DURATION:
        duration_text(whole_of(option, options), text, size);
        break;
    case LB_OPT_REAL:
        real_text(real_of(option, options), text, size);
        break;
    case LB_OPT_BOOL:
        snprintf(text, size, whole_of(option, options) ? "yes" : "no");
        break;
    case LB_OPT_CHOICE:
        text_choice_name(option->choices, (int)whole_of(option, options), text, size);
        break;
    case LB_OPT_TEXT:
        snprintf(text, size, "%s", text_of(option, options));
        break;
    }
    return text;
}

static json_t *option_json(const struct lb_option *option, const void *options) {
    char text[256];
    switch (option->type) {
    case LB_OPT_INT:
    case LB_OPT_DURATION:
        return json_integer(whole_of(option, options));
    case LB_OPT_REAL:
        return json_real(real_of(option, options));
    case LB_OPT_BOOL:
        return json_boolean(whole_of(option, options));
    case LB_OPT_CHOICE:
        return json_string(option_text(option, options, text, sizeof text));
    case LB_OPT_TEXT:
        return json_string(text_of(option, options));
    }
    return NULL;
}

int options_json(const struct lb_option *table, const void *options, json_t *object) {
    for (const struct lb_option *option = table; option && option->name; option++) {
        char name[80];
        snprintf(name, sizeof name, "%s%s", option->name,
                 option->type == LB_OPT_DURATION ? "_ns" : "");
        if (json_object_set_new(object, name, option_json(option, options))) return -1;
    }
    return 0;
}

json_t *options_table_json(const struct lb_option *table) {
    json_t *array = json_array();
    for (const struct lb_option *option = table; array && option && option->name; option++) {
        char allowed[256];
        json_t *entry =
            json_pack("{s:s, s:s, s:s?, s:s, s:s?}", "name", option->name, "type",
                      option_type(option), "default", option->def, "allowed",
                      option_allowed(option, allowed, sizeof allowed), "help", option->help);
        if (json_array_append_new(array, entry)) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}
