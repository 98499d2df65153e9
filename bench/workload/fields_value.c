/* fields_value: a key's value from text, as text and as JSON; see fields.h. */
#include <string.h>

#include "bench/workload/faults.h"
#include "bench/workload/fields.h"
#include "bench/workload/shape.h"
#include "bench/workload/text.h"
#include "bench/workload/topologies.h"

#define NAME_MAX_BYTES 40

static int read_percent(const struct field *field, const char *text, double *ret,
                        struct lb_err *err) {
    char number[32];
    size_t length = strlen(text);
    if (strcmp(text, "no") == 0) {
        *ret = 0;
        return 0;
    }
    if (length > 0 && text[length - 1] == '%') length--;
    if (text_trim(text, length, number, sizeof number))
        return err_set(err, LB_EXIT_USAGE, "'%.40s' is not a number of per cent", text);
    return text_real(number, field->min, field->max, ret, err);
}

/* How many steps a ladder has. */
static int *count_at(const struct field *field, struct plan *plan) {
    return (int *)((char *)plan + field->count_offset);
}

static int count_of(const struct field *field, const struct plan *plan) {
    return *(const int *)((const char *)plan + field->count_offset);
}

static int read_text(const char *text, size_t max_bytes, const char **ret, struct arena *arena,
                     struct lb_err *err) {
    size_t len = strlen(text);
    if (len > max_bytes)
        return err_set(err, LB_EXIT_USAGE, "longer than %zu characters", max_bytes);
    const char *copy = arena_text(arena, text);
    if (!copy) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    *ret = copy;
    return 0;
}

/* The name becomes a folder's: no separators, no leading dot. */
static int read_name(const char *text, const char **ret, struct arena *arena, struct lb_err *err) {
    size_t good = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-");
    if (*text == '\0') return err_set(err, LB_EXIT_USAGE, "the name is empty");
    if (*text == '.' || *text == '-') return err_set(err, LB_EXIT_USAGE, "begins with '%c'", *text);
    if (text[good])
        return err_set(err, LB_EXIT_USAGE, "'%.40s' has a character that a folder's name can't",
                       text);
    return read_text(text, NAME_MAX_BYTES, ret, arena, err);
}

static int read_choice(const struct field *field, const char *text, void *at, struct arena *arena,
                       struct lb_err *err) {
    int index = 0;
    if (text_choice(text, field->choices, &index, err)) return -1;
    if (field->type == FIELD_CHOICE_TEXT) return read_text(text, strlen(text), at, arena, err);
    /* an enum without negative values */
    memcpy(at, &(unsigned){(unsigned)index}, sizeof(unsigned));
    return 0;
}

int field_read(const struct field *field, const char *text, struct plan *plan, struct arena *arena,
               struct lb_err *err) {
    void *at = (char *)plan + field->offset;
    int64_t whole = 0, min = (int64_t)field->min, max = (int64_t)field->max;
    int index = 0;
    switch (field->type) {
    case FIELD_NAME:
        return read_name(text, at, arena, err);
    case FIELD_TEXT:
        return read_text(text, (size_t)max, at, arena, err);
    case FIELD_THREADS:
        if (strcmp(text, "auto") == 0) {
            *(int *)at = 0;
            return 0;
        } /* fall through */
    case FIELD_INT:
        if (text_int(text, min, max, &whole, err)) return -1;
        *(int *)at = (int)whole;
        return 0;
    case FIELD_COUNT:
        if (text_int(text, min, max, &whole, err)) return -1;
        *(uint64_t *)at = (uint64_t)whole;
        return 0;
    case FIELD_TIMEOUT:
        if (strcmp(text, "none") == 0) {
            *(int64_t *)at = 0;
            return 0;
        } /* fall through */
    case FIELD_DURATION:
        return text_duration(text, min, max, at, err);
    case FIELD_BOOL:
        return text_bool(text, at, err);
    case FIELD_CHOICE:
    case FIELD_CHOICE_TEXT:
        return read_choice(field, text, at, arena, err);
    case FIELD_EITHER:
        if (text_choice(text, field->choices, &index, err)) return -1;
        *(bool *)at = index == 1;
        return 0;
    case FIELD_PERCENT:
        return read_percent(field, text, at, err);
    case FIELD_RATES:
        if (strcmp(text, "none") == 0) {
            *count_at(field, plan) = 0;
            return 0;
        } /* fall through */
    case FIELD_LADDER:
        return ladder_parse(text, (int)min, (int)max, at, count_at(field, plan), err);
    case FIELD_TOPOLOGY:
        return topologies_read(text, plan, err);
    case FIELD_KEYS:
        return keyspace_parse(text, at, err);
    case FIELD_ARRIVAL:
        return arrival_parse(text, at, err);
    case FIELD_DIST:
        return dist_parse(text, at, err);
    case FIELD_GAP:
        return gap_parse(text, &plan->gap, &plan->gap_ns, err);
    case FIELD_SPAN:
        return span_parse(text, min, max, at, err);
    case FIELD_TARGET:
        return fault_target_parse(text, fault_with_target(at), err);
    }
    return err_set(err, LB_EXIT_USAGE, "the table of keys is wrong");
}

char *field_text(const struct field *field, const struct plan *plan, char *text, size_t size) {
    const void *at = (const char *)plan + field->offset;
    const char *words;
    switch (field->type) {
    case FIELD_NAME:
    case FIELD_TEXT:
    case FIELD_CHOICE_TEXT:
        words = *(const char *const *)at;
        snprintf(text, size, "%s", words ? words : "");
        break;
    case FIELD_THREADS:
    case FIELD_INT:
        snprintf(text, size, "%d", *(const int *)at);
        if (field->type == FIELD_THREADS && *(const int *)at == 0) snprintf(text, size, "auto");
        break;
    case FIELD_COUNT:
        snprintf(text, size, "%llu", (unsigned long long)*(const uint64_t *)at);
        break;
    case FIELD_DURATION:
    case FIELD_TIMEOUT:
        duration_text(*(const int64_t *)at, text, size);
        if (field->type == FIELD_TIMEOUT && *(const int64_t *)at == 0) snprintf(text, size, "none");
        break;
    case FIELD_BOOL:
        snprintf(text, size, *(const bool *)at ? "yes" : "no");
        break;
    case FIELD_CHOICE:
        text_choice_name(field->choices, (int)*(const unsigned *)at, text, size);
        break;
    case FIELD_EITHER:
        text_choice_name(field->choices, *(const bool *)at, text, size);
        break;
    case FIELD_PERCENT:
        real_text(*(const double *)at, text, size);
        if (*(const double *)at > 0) {
            snprintf(text + strlen(text), size - strlen(text), "%%");
        } else {
            snprintf(text, size, "no");
        }
        break;
    case FIELD_RATES:
    case FIELD_LADDER:
        ladder_text(at, count_of(field, plan), text, size);
        if (count_of(field, plan) == 0) snprintf(text, size, "none");
        break;
    case FIELD_TOPOLOGY:
        topologies_text(plan, text, size);
        break;
    case FIELD_KEYS:
        keyspace_text(at, text, size);
        break;
    case FIELD_ARRIVAL:
        arrival_text(at, text, size);
        break;
    case FIELD_DIST:
        dist_text(at, text, size);
        break;
    case FIELD_GAP:
        gap_text(plan->gap, plan->gap_ns, text, size);
        break;
    case FIELD_SPAN:
        span_text(at, text, size);
        if (field->min > 0 && span_is_none(at)) snprintf(text, size, "none");
        break;
    case FIELD_TARGET:
        fault_target_text(fault_with_target_const(at), text, size);
        break;
    }
    return text;
}

char *field_allowed(const struct field *field, char *text, size_t size) {
    char low[40], high[40];
    if (field->allowed) {
        snprintf(text, size, "%s", field->allowed);
    } else if (field->choices) {
        text_choices(field->choices, text, size);
    } else if (field->type == FIELD_DURATION) {
        snprintf(text, size, "a duration, %s to %s",
                 duration_text((int64_t)field->min, low, sizeof low),
                 duration_text((int64_t)field->max, high, sizeof high));
    } else {
        snprintf(text, size, "a whole number, %.0f to %.0f", field->min, field->max);
    }
    return text;
}

static json_t *ladder_json(const int *steps, int count) {
    json_t *array = json_array();
    for (int i = 0; i < count; i++) {
        if (json_array_append_new(array, json_integer(steps[i]))) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

/* "first" as people write it, and "first_ns" as a number: null where it is none or drawn. */
static int span_json(const struct field *field, const struct plan *plan, json_t *section) {
    const struct span *span = (const void *)((const char *)plan + field->offset);
    bool fixed = span->from_ns == span->to_ns && !(field->min > 0 && span_is_none(span));
    char name[64], text[128];
    snprintf(name, sizeof name, "%s_ns", field->key);
    return json_object_set_new(section, name, fixed ? json_integer(span->from_ns) : json_null()) ||
                   json_object_set_new(section, field->key,
                                       json_string(field_text(field, plan, text, sizeof text)))
               ? -1
               : 0;
}

int field_json(const struct field *field, const struct plan *plan, json_t *section) {
    const void *at = (const char *)plan + field->offset;
    bool is_ns = field->type == FIELD_DURATION || field->type == FIELD_TIMEOUT;
    char name[64], text[4096];
    json_t *value;
    snprintf(name, sizeof name, "%s%s", field->key, is_ns ? "_ns" : "");
    switch (field->type) {
    case FIELD_INT:
    case FIELD_THREADS:
        value = json_integer(*(const int *)at);
        break;
    case FIELD_COUNT:
        value = json_integer((json_int_t) * (const uint64_t *)at);
        break;
    case FIELD_TIMEOUT:
        value = *(const int64_t *)at ? json_integer(*(const int64_t *)at) : json_null();
        break;
    case FIELD_DURATION:
        value = json_integer(*(const int64_t *)at);
        break;
    case FIELD_BOOL:
        value = json_boolean(*(const bool *)at);
        break;
    case FIELD_RATES:
    case FIELD_LADDER:
        value = ladder_json(at, count_of(field, plan));
        break;
    case FIELD_SPAN:
        return span_json(field, plan, section);
    default:
        value = json_string(field_text(field, plan, text, sizeof text));
    }
    return json_object_set_new(section, name, value);
}
