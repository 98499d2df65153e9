/* option: see option.h. */
#include "bench/option/option.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "bench/option/text.h"

int option_read(const struct lb_option *option, void *values, const char *text, struct arena *arena,
                struct lb_err *err) {
    return option->type->read(option, text, values, arena, err);
}

int option_set(const struct lb_option *option, void *values, const char *text, const char *source,
               struct arena *arena, struct lb_err *err) {
    struct lb_err why = {0};
    char allowed[256];
    if (option_read(option, values, text, arena, &why) == 0) return 0;
    if (why.code != LB_EXIT_USAGE) return err_set(err, why.code, "%s: %s", source, why.text);
    option_allowed(option, allowed, sizeof allowed);
    if (*text == '\0') {
        return err_set(err, LB_EXIT_USAGE, "%s: the value is missing; allowed: %s", source,
                       allowed);
    }
    /* A text that ends with "did you mean 'x'?" has listed what is allowed. */
    bool hinted = why.text[strlen(why.text) - 1] == '?';
    return err_set(err, LB_EXIT_USAGE, "%s: %s%s%s", source, why.text,
                   hinted ? "" : "; allowed: ", hinted ? "" : allowed);
}

int options_fill(const struct lb_option *table, void *values, struct arena *arena,
                 struct lb_err *err) {
    for (const struct lb_option *option = table; option && option->name; option++) {
        if (!option->def || option_read(option, values, option->def, arena, err) == 0) continue;
        return err_prefix(err, "%s: its own default", option->name);
    }
    return 0;
}

void *options_new(const struct lb_option *table, size_t bytes, struct arena *arena,
                  struct lb_err *err) {
    void *values = arena_alloc(arena, bytes);
    if (!values) err_set(err, LB_EXIT_MACHINE, "out of memory");
    return values && options_fill(table, values, arena, err) == 0 ? values : NULL;
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
    if (option->type->words) {
        snprintf(text, size, "%s", option->type->words);
    } else if (option->type->allowed) {
        option->type->allowed(option, text, size);
    } else {
        text_choices(option->choices, text, size);
    }
    return text;
}

char *option_text(const struct lb_option *option, const void *values, char *text, size_t size) {
    option->type->text(option, values, text, size);
    return text;
}

int option_put_json(const struct lb_option *option, const char *unit, json_t *value,
                    json_t *object) {
    char name[80];
    snprintf(name, sizeof name, "%s%s", option->name, unit);
    return json_object_set_new(object, name, value);
}

static int option_json(const struct lb_option *option, const void *values, json_t *object) {
    char text[4096];
    if (option->type->json) return option->type->json(option, values, object);
    option_text(option, values, text, sizeof text);
    return option_put_json(option, "", json_string(text), object);
}

int options_json(const struct lb_option *table, const void *values, json_t *object) {
    for (const struct lb_option *option = table; option && option->name; option++) {
        if (option_json(option, values, object)) return -1;
    }
    return 0;
}

/* types: numbers, durations, yes and no, choices and texts as types of options; see option.h. How a
 * value is read from its text is in text.c. */

/* Limits are doubles, which do not hold the largest int64_t exactly. */
static int64_t whole_limit(double limit) {
    if (limit >= 0x1p63) return INT64_MAX;
    return limit <= -0x1p63 ? INT64_MIN : (int64_t)limit;
}

static void store_whole(const struct lb_option *option, void *values, int64_t whole) {
    void *at = option_at(option, values);
    if (option->type->bytes == 1) {
        *(bool *)at = whole != 0;
    } else if (option->type->bytes == 4) {
        int32_t narrow = (int32_t)whole;
        memcpy(at, &narrow, 4);
    } else {
        memcpy(at, &whole, 8);
    }
}

static int64_t load_whole(const struct lb_option *option, const void *values) {
    const void *at = option_in(option, values);
    int32_t narrow;
    int64_t whole;
    if (option->type->bytes == 1) return *(const bool *)at;
    if (option->type->bytes == 4) {
        memcpy(&narrow, at, 4);
        return narrow;
    }
    memcpy(&whole, at, 8);
    return whole;
}

bool option_is_zero_word(const struct lb_option *option, const char *text) {
    return option->choices && strcmp(text, option->choices) == 0;
}

/* ---- whole numbers, and durations in ns ---- */

static bool is_duration(const struct lb_option *option) {
    return option->type == &lb_type_duration;
}

static int read_whole(const struct lb_option *option, const char *text, void *values,
                      struct arena *arena, struct lb_err *err) {
    int64_t whole = 0, min = whole_limit(option->min), max = whole_limit(option->max);
    (void)arena;
    if (!option_is_zero_word(option, text) &&
        (is_duration(option) ? text_duration : text_int)(text, min, max, &whole, err))
        return -1;
    store_whole(option, values, whole);
    return 0;
}

static char *whole_text(const struct lb_option *option, int64_t whole, char *text, size_t size) {
    if (is_duration(option)) return duration_text(whole, text, size);
    snprintf(text, size, "%lld", (long long)whole);
    return text;
}

static void format_whole(const struct lb_option *option, const void *values, char *text,
                         size_t size) {
    int64_t whole = load_whole(option, values);
    if (whole == 0 && option->choices) {
        snprintf(text, size, "%s", option->choices);
    } else {
        whole_text(option, whole, text, size);
    }
}

/* Begins the text with "none, or " if a word means 0. Returns how many characters. */
static size_t allow_zero_word(const struct lb_option *option, char *text, size_t size) {
    if (!option->choices) return 0;
    snprintf(text, size, "%s, or ", option->choices);
    return strlen(text);
}

static void allowed_whole(const struct lb_option *option, char *text, size_t size) {
    char low[40], high[40];
    size_t used = allow_zero_word(option, text, size);
    snprintf(text + used, size - used, "a %s, %s to %s",
             is_duration(option) ? "duration" : "whole number",
             whole_text(option, whole_limit(option->min), low, sizeof low),
             whole_text(option, whole_limit(option->max), high, sizeof high));
}

static int json_whole(const struct lb_option *option, const void *values, json_t *object) {
    int64_t whole = load_whole(option, values);
    bool none = is_duration(option) && whole == 0 && option->choices;
    return option_put_json(option, is_duration(option) ? "_ns" : "",
                           none ? json_null() : json_integer(whole), object);
}

/* ---- decimal numbers and per cent ---- */

static double real_of(const struct lb_option *option, const void *values) {
    return *(const double *)option_in(option, values);
}

static int read_real(const struct lb_option *option, const char *text, void *values,
                     struct arena *arena, struct lb_err *err) {
    (void)arena;
    return text_real(text, option->min, option->max, option_at(option, values), err);
}

static void format_real(const struct lb_option *option, const void *values, char *text,
                        size_t size) {
    real_text(real_of(option, values), text, size);
}

static void allowed_real(const struct lb_option *option, char *text, size_t size) {
    char low[40], high[40];
    snprintf(text, size, "a number, %s to %s", real_text(option->min, low, sizeof low),
             real_text(option->max, high, sizeof high));
}

static int json_of_real(const struct lb_option *option, const void *values, json_t *object) {
    return option_put_json(option, "", json_real(real_of(option, values)), object);
}

static int read_percent(const struct lb_option *option, const char *text, void *values,
                        struct arena *arena, struct lb_err *err) {
    char number[32];
    double *percent = option_at(option, values);
    size_t length = strlen(text);
    (void)arena;
    if (option_is_zero_word(option, text)) {
        *percent = 0;
        return 0;
    }
    if (length > 0 && text[length - 1] == '%') length--;
    if (text_trim(text, length, number, sizeof number))
        return err_set(err, LB_EXIT_USAGE, "'%.40s' is not a number of per cent", text);
    return text_real(number, option->min, option->max, percent, err);
}

static void format_percent(const struct lb_option *option, const void *values, char *text,
                           size_t size) {
    double percent = real_of(option, values);
    char number[32];
    if (percent == 0 && option->choices) {
        snprintf(text, size, "%s", option->choices);
    } else {
        snprintf(text, size, "%s%%", real_text(percent, number, sizeof number));
    }
}

static void allowed_percent(const struct lb_option *option, char *text, size_t size) {
    char low[40], high[40];
    size_t used = allow_zero_word(option, text, size);
    snprintf(text + used, size - used, "per cent, %s%% to %s%%",
             real_text(option->min, low, sizeof low), real_text(option->max, high, sizeof high));
}

/* ---- yes and no ---- */

static int read_bool(const struct lb_option *option, const char *text, void *values,
                     struct arena *arena, struct lb_err *err) {
    bool yes;
    (void)arena;
    if (text_bool(text, &yes, err)) return -1;
    store_whole(option, values, yes);
    return 0;
}

static void format_bool(const struct lb_option *option, const void *values, char *text,
                        size_t size) {
    snprintf(text, size, load_whole(option, values) ? "yes" : "no");
}

static int json_of_bool(const struct lb_option *option, const void *values, json_t *object) {
    return option_put_json(option, "", json_boolean(load_whole(option, values)), object);
}

/* ---- choices and texts ---- */

static int read_choice(const struct lb_option *option, const char *text, void *values,
                       struct arena *arena, struct lb_err *err) {
    int index;
    (void)arena;
    if (text_choice(text, option->choices, &index, err)) return -1;
    store_whole(option, values, index);
    return 0;
}

static void format_choice(const struct lb_option *option, const void *values, char *text,
                          size_t size) {
    text_choice_name(option->choices, (int)load_whole(option, values), text, size);
}

int option_read_text(const struct lb_option *option, const char *text, void *values,
                     struct arena *arena, struct lb_err *err) {
    if (strlen(text) < (size_t)option->min) return err_set(err, LB_EXIT_USAGE, "empty");
    if (option->max > 0 && strlen(text) > (size_t)option->max)
        return err_set(err, LB_EXIT_USAGE, "longer than %.0f characters", option->max);
    const char *copy = arena_text(arena, text);
    if (!copy) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    memcpy(option_at(option, values), &copy, sizeof copy);
    return 0;
}

static int read_choice_word(const struct lb_option *option, const char *text, void *values,
                            struct arena *arena, struct lb_err *err) {
    int index;
    if (text_choice(text, option->choices, &index, err)) return -1;
    return option_read_text(option, text, values, arena, err);
}

void option_format_text(const struct lb_option *option, const void *values, char *text,
                        size_t size) {
    const char *kept = *(const char *const *)option_in(option, values);
    snprintf(text, size, "%s", kept ? kept : "");
}

static void allowed_text(const struct lb_option *option, char *text, size_t size) {
    if (option->max > 0) {
        snprintf(text, size, "text of up to %.0f characters", option->max);
    } else {
        snprintf(text, size, "text");
    }
}

/* The types that exist for values of several widths. */
#define WHOLE .read = read_whole, .text = format_whole, .allowed = allowed_whole, .json = json_whole
#define BOOL .read = read_bool, .text = format_bool, .words = "yes or no", .json = json_of_bool
#define CHOICE .read = read_choice, .text = format_choice

const struct lb_option_type lb_type_int = {WHOLE, .bytes = 8};
const struct lb_option_type lb_type_int32 = {WHOLE, .bytes = 4};
const struct lb_option_type lb_type_duration = {WHOLE, .bytes = 8};
const struct lb_option_type lb_type_bool = {BOOL, .bytes = 8};
const struct lb_option_type lb_type_bool8 = {BOOL, .bytes = 1};
const struct lb_option_type lb_type_choice = {CHOICE, .bytes = 8};
const struct lb_option_type lb_type_choice32 = {CHOICE, .bytes = 4};
const struct lb_option_type lb_type_choice8 = {CHOICE, .bytes = 1};

const struct lb_option_type lb_type_real = {
    .bytes = 8,
    .read = read_real,
    .text = format_real,
    .allowed = allowed_real,
    .json = json_of_real,
};

const struct lb_option_type lb_type_percent = {
    .bytes = 8,
    .read = read_percent,
    .text = format_percent,
    .allowed = allowed_percent,
};

const struct lb_option_type lb_type_choice_word = {
    .bytes = sizeof(char *),
    .read = read_choice_word,
    .text = option_format_text,
};

const struct lb_option_type lb_type_text = {
    .bytes = sizeof(char *),
    .read = option_read_text,
    .text = option_format_text,
    .allowed = allowed_text,
};
