/* option: see option.h. */
#include "bench/option/option.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "bench/option/text.h"

int option_read(const struct lb_option *option, void *values, const char *text, struct arena *arena,
                struct lb_err *err) {
    const struct option_into into = {option, (char *)values + option->offset, values, arena};
    return option->type->read(&into, text, err);
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
    if (option->type->allowed) {
        option->type->allowed(option, text, size);
    } else if (option->type->words) {
        snprintf(text, size, "%s", option->type->words);
    } else {
        text_choices(option->choices, text, size);
    }
    return text;
}

char *option_text(const struct lb_option *option, const void *values, char *text, size_t size) {
    option->type->text(option, option_in(option, values), text, size);
    return text;
}

static int option_json(const struct lb_option *option, const void *values, json_t *object) {
    const struct lb_option_type *type = option->type;
    const void *in = option_in(option, values);
    char name[80], text[4096];
    if (!type->json) option_text(option, values, text, sizeof text);
    snprintf(name, sizeof name, "%s%s", option->name, type->unit ? type->unit : "");
    return json_object_set_new(object, name,
                               type->json ? type->json(option, in) : json_string(text));
}

int options_json(const struct lb_option *table, const void *values, json_t *object) {
    for (const struct lb_option *option = table; option && option->name; option++) {
        if (option_json(option, values, object)) return -1;
    }
    return 0;
}

/* types: numbers, durations, yes and no, choices and texts as types of options; see option.h. How a
 * value is read from its text is in text.c. */

static int store_whole(const struct option_into *into, int64_t whole) {
    if (into->option->type->bytes == 1) {
        *(bool *)into->at = whole != 0;
    } else if (into->option->type->bytes == 4) {
        int32_t narrow = (int32_t)whole;
        memcpy(into->at, &narrow, 4);
    } else {
        memcpy(into->at, &whole, 8);
    }
    return 0;
}

static int64_t load_whole(const struct lb_option *option, const void *in) {
    int32_t narrow;
    int64_t whole;
    if (option->type->bytes == 1) return *(const bool *)in;
    if (option->type->bytes == 4) {
        memcpy(&narrow, in, 4);
        return narrow;
    }
    memcpy(&whole, in, 8);
    return whole;
}

bool option_is_zero_word(const struct lb_option *option, const char *text) {
    return option->choices && strcmp(text, option->choices) == 0;
}

/* ---- numbers, durations in ns, and per cent ---- */

static bool is_duration(const struct lb_option *option) {
    return option->type == &lb_type_duration;
}

static int read_whole(const struct option_into *into, const char *text, struct lb_err *err) {
    const struct lb_option *option = into->option;
    int64_t whole = 0;
    if (!option_is_zero_word(option, text) &&
        (is_duration(option) ? text_duration : text_int)(text, (int64_t)option->min,
                                                         (int64_t)option->max, &whole, err))
        return -1;
    return store_whole(into, whole);
}

static void format_whole(const struct lb_option *option, const void *in, char *text, size_t size) {
    int64_t whole = load_whole(option, in);
    if (whole == 0 && option->choices) {
        snprintf(text, size, "%s", option->choices);
    } else if (is_duration(option)) {
        duration_text(whole, text, size);
    } else {
        snprintf(text, size, "%lld", (long long)whole);
    }
}

static json_t *json_whole(const struct lb_option *option, const void *in) {
    int64_t whole = load_whole(option, in);
    bool none = is_duration(option) && whole == 0 && option->choices;
    return none ? json_null() : json_integer(whole);
}

static int read_real(const struct option_into *into, const char *text, struct lb_err *err) {
    return text_real(text, into->option->min, into->option->max, into->at, err);
}

static void format_real(const struct lb_option *option, const void *in, char *text, size_t size) {
    (void)option;
    real_text(*(const double *)in, text, size);
}

static json_t *json_of_real(const struct lb_option *option, const void *in) {
    (void)option;
    return json_real(*(const double *)in);
}

static int read_percent(const struct option_into *into, const char *text, struct lb_err *err) {
    char number[32];
    size_t length = strlen(text);
    if (option_is_zero_word(into->option, text)) {
        *(double *)into->at = 0;
        return 0;
    }
    if (length > 0 && text[length - 1] == '%') length--;
    if (text_trim(text, length, number, sizeof number))
        return err_set(err, LB_EXIT_USAGE, "'%.40s' is not a number of per cent", text);
    return read_real(into, number, err);
}

static void format_percent(const struct lb_option *option, const void *in, char *text,
                           size_t size) {
    double percent = *(const double *)in;
    char number[32];
    if (percent == 0 && option->choices) {
        snprintf(text, size, "%s", option->choices);
    } else {
        snprintf(text, size, "%s%%", real_text(percent, number, sizeof number));
    }
}

/* "none, or a duration, 1us to 1h": the word that means 0, the kind of number, its limits. */
static void allowed_range(const struct lb_option *option, char *text, size_t size) {
    char limit[2][40];
    const char *zero = option->choices, *sign = option->type == LB_OPT_PERCENT ? "%" : "";
    for (int i = 0; i < 2; i++) {
        double number = i == 0 ? option->min : option->max;
        if (is_duration(option))
            duration_text((int64_t)number, limit[i], sizeof limit[i]);
        else
            real_text(number, limit[i], sizeof limit[i]);
    }
    snprintf(text, size, "%s%s%s, %s%s to %s%s", zero ? zero : "", zero ? ", or " : "",
             option->type->words, limit[0], sign, limit[1], sign);
}

/* ---- yes and no ---- */

static int read_bool(const struct option_into *into, const char *text, struct lb_err *err) {
    bool yes;
    return text_bool(text, &yes, err) ? -1 : store_whole(into, yes);
}

static void format_bool(const struct lb_option *option, const void *in, char *text, size_t size) {
    snprintf(text, size, load_whole(option, in) ? "yes" : "no");
}

static json_t *json_of_bool(const struct lb_option *option, const void *in) {
    return json_boolean(load_whole(option, in));
}

/* ---- choices and texts ---- */

static int read_choice(const struct option_into *into, const char *text, struct lb_err *err) {
    int index;
    return text_choice(text, into->option->choices, &index, err) ? -1 : store_whole(into, index);
}

static void format_choice(const struct lb_option *option, const void *in, char *text, size_t size) {
    text_choice_name(option->choices, (int)load_whole(option, in), text, size);
}

int option_read_text(const struct option_into *into, const char *text, struct lb_err *err) {
    const struct lb_option *option = into->option;
    if (strlen(text) < (size_t)option->min) return err_set(err, LB_EXIT_USAGE, "empty");
    if (option->max > 0 && strlen(text) > (size_t)option->max)
        return err_set(err, LB_EXIT_USAGE, "longer than %.0f characters", option->max);
    const char *copy = arena_text(into->arena, text);
    if (!copy) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    *(const char **)into->at = copy;
    return 0;
}

static int read_choice_word(const struct option_into *into, const char *text, struct lb_err *err) {
    int index;
    if (text_choice(text, into->option->choices, &index, err)) return -1;
    return option_read_text(into, text, err);
}

void option_format_text(const struct lb_option *option, const void *in, char *text, size_t size) {
    const char *kept = *(const char *const *)in;
    (void)option;
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
#define RANGE(kind) .allowed = allowed_range, .words = kind
#define WHOLE(kind) .read = read_whole, .text = format_whole, .json = json_whole, RANGE(kind)
#define BOOL .read = read_bool, .text = format_bool, .words = "yes or no", .json = json_of_bool
#define CHOICE .read = read_choice, .text = format_choice

const struct lb_option_type lb_type_int = {WHOLE("a whole number"), .bytes = 8};
const struct lb_option_type lb_type_int32 = {WHOLE("a whole number"), .bytes = 4};
const struct lb_option_type lb_type_duration = {WHOLE("a duration"), .bytes = 8, .unit = "_ns"};
const struct lb_option_type lb_type_bool = {BOOL, .bytes = 8};
const struct lb_option_type lb_type_bool8 = {BOOL, .bytes = 1};
const struct lb_option_type lb_type_choice = {CHOICE, .bytes = 8};
const struct lb_option_type lb_type_choice32 = {CHOICE, .bytes = 4};
const struct lb_option_type lb_type_choice8 = {CHOICE, .bytes = 1};

const struct lb_option_type lb_type_real = {RANGE("a number"), .bytes = 8, .read = read_real,
                                            .text = format_real, .json = json_of_real};

const struct lb_option_type lb_type_percent = {RANGE("per cent"), .bytes = 8, .read = read_percent,
                                               .text = format_percent};

const struct lb_option_type lb_type_choice_word = {
    .bytes = sizeof(char *), .read = read_choice_word, .text = option_format_text};

const struct lb_option_type lb_type_text = {.bytes = sizeof(char *),
                                            .read = option_read_text,
                                            .text = option_format_text,
                                            .allowed = allowed_text};
