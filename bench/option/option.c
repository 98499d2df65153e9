/* option: see option.h. What the types do is in types.c. */
#include "bench/option/option.h"

#include <stdio.h>
#include <string.h>

#include "bench/option/text.h"

int option_read(const struct lb_option *option, void *values, const char *text, struct arena *arena,
                struct lb_err *err) {
    return option->type->read(option, text, values, arena, err);
}

int option_set(const struct lb_option *option, void *values, const char *text, const char *place,
               struct arena *arena, struct lb_err *err) {
    struct lb_err why = {0};
    char allowed[256];
    if (option_read(option, values, text, arena, &why) == 0) return 0;
    if (why.code != LB_EXIT_USAGE) return err_set(err, why.code, "%s: %s", place, why.text);
    option_allowed(option, allowed, sizeof allowed);
    if (*text == '\0') {
        return err_set(err, LB_EXIT_USAGE, "%s: the value is missing; allowed: %s", place, allowed);
    }
    /* A text that ends with "did you mean 'x'?" has listed what is allowed. */
    bool hinted = why.text[strlen(why.text) - 1] == '?';
    return err_set(err, LB_EXIT_USAGE, "%s: %s%s%s", place, why.text,
                   hinted ? "" : "; allowed: ", hinted ? "" : allowed);
}

int options_fill(const struct lb_option *table, void *values, struct arena *arena,
                 struct lb_err *err) {
    for (const struct lb_option *option = table; option && option->name; option++) {
        if (!option->def || option_read(option, values, option->def, arena, err) == 0) continue;
        err_prefix(err, "%s: its own default", option->name);
        return -1;
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

json_t *options_table_json(const struct lb_option *table) {
    json_t *array = json_array();
    for (const struct lb_option *option = table; array && option && option->name; option++) {
        char allowed[256];
        json_t *entry =
            json_pack("{s:s, s:s, s:s?, s:s, s:s?}", "name", option->name, "type",
                      option->type->name, "default", option->def, "allowed",
                      option_allowed(option, allowed, sizeof allowed), "help", option->help);
        if (json_array_append_new(array, entry)) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}
