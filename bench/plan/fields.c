/* fields: see fields.h. */
#include "bench/plan/fields.h"

#include <string.h>

#include "bench/plan/shape.h"
#include "bench/plan/text.h"

#define NAME_MAX_BYTES 40
#define HOUR_NS (3600.0 * LB_S_NS)
#define DAY_NS (24 * HOUR_NS)

static const struct field table[] = {
    {.section = "workload",
     .key = "name",
     .type = FIELD_NAME,
     .offset = offsetof(struct plan, name),
     .allowed = "up to 40 letters, digits, dots, underscores and hyphens",
     .help = "names the run's folder and report; the file's name when left out"},
    {.section = "workload",
     .key = "summary",
     .type = FIELD_TEXT,
     .offset = offsetof(struct plan, summary),
     .def = "",
     .max = 200,
     .allowed = "one line of up to 200 characters",
     .help = "the question that this workload answers"},
    {.section = "workload",
     .key = "locks",
     .type = FIELD_TEXT,
     .offset = offsetof(struct plan, wished),
     .def = "all",
     .max = 4000,
     .allowed = "all, or names of locks with commas between",
     .help = "which locks to run when the command line names none"},

    {.section = "load",
     .key = "clients",
     .type = FIELD_CLIENTS,
     .def = "1",
     .allowed = "1 to 100000, a list 1,2,4, or a ladder 1..64 x2 or 10..50 +10",
     .help = "how many clients compete; one stage for each number"},
    {.section = "load",
     .key = "processes",
     .type = FIELD_INT,
     .offset = offsetof(struct plan, processes),
     .def = "1",
     .min = 1,
     .max = 256,
     .help = "worker processes that the clients are spread over"},
    {.section = "load",
     .key = "threads",
     .type = FIELD_THREADS,
     .offset = offsetof(struct plan, threads),
     .def = "auto",
     .min = 1,
     .max = 4096,
     .allowed = "auto (one for each two processors), or 1 to 4096",
     .help = "OS threads of all processes; as many as clients gives each its own"},
    {.section = "load",
     .key = "keys",
     .type = FIELD_KEYS,
     .offset = offsetof(struct plan, keys),
     .def = "1",
     .allowed = "own, 1 to 10000000, 1000 uniform, or 1000 zipf:0.99",
     .help = "how many lock names, and how a client picks one; own: each client has its own"},
    {.section = "load",
     .key = "arrival",
     .type = FIELD_ARRIVAL,
     .offset = offsetof(struct plan, arrival),
     .def = "closed",
     .allowed = "closed, constant:500/s, or poisson:500/s",
     .help = "closed: the next attempt when the last is done; else a schedule, rate of all clients"},
    {.section = "load",
     .key = "hold",
     .type = FIELD_DIST,
     .offset = offsetof(struct plan, hold),
     .def = "0",
     .allowed = "0, 5ms, exponential:5ms, or lognormal:5ms:0.7 (mean, sigma of the logarithm)",
     .help = "how long a holder works before it releases"},
    {.section = "load",
     .key = "think",
     .type = FIELD_DIST,
     .offset = offsetof(struct plan, think),
     .def = "0",
     .allowed = "0, 5ms, exponential:5ms, or lognormal:5ms:0.7 (mean, sigma of the logarithm)",
     .help = "how long a client rests after each attempt; closed arrival only"},
    {.section = "load",
     .key = "seed",
     .type = FIELD_SEED,
     .offset = offsetof(struct plan, seed),
     .def = "1",
     .min = 0,
     .max = 999999999999999.0, /* exact in a double, so in JavaScript too */
     .allowed = "a whole number of up to 15 digits",
     .help = "of all random draws; the same seed gives the same schedule"},

    {.section = "acquire",
     .key = "mode",
     .type = FIELD_CHOICE,
     .offset = offsetof(struct plan, mode),
     .def = "wait",
     .choices = "wait,try,timed",
     .help = "wait until granted, ask once, or wait no longer than timeout"},
    {.section = "acquire",
     .key = "timeout",
     .type = FIELD_TIMEOUT,
     .offset = offsetof(struct plan, timeout_ns),
     .def = "none",
     .min = LB_US_NS,
     .max = HOUR_NS,
     .allowed = "none, or a duration, 1us to 1h",
     .help = "the longest wait for a grant; mode = timed needs it"},
    {.section = "acquire",
     .key = "lease",
     .type = FIELD_DURATION,
     .offset = offsetof(struct plan, lease_ns),
     .def = "10s",
     .min = LB_MS_NS,
     .max = DAY_NS,
     .help = "how long a grant lasts unless renewed, for locks that have leases"},
    {.section = "acquire",
     .key = "renew",
     .type = FIELD_BOOL,
     .offset = offsetof(struct plan, renew),
     .def = "no",
     .allowed = "yes or no",
     .help = "whether a holder extends its lease while it works"},

    {.section = "run",
     .key = "warmup",
     .type = FIELD_DURATION,
     .offset = offsetof(struct plan, warmup_ns),
     .def = "1s",
     .min = 0,
     .max = HOUR_NS,
     .help = "load before the measured window, checked but not measured"},
    {.section = "run",
     .key = "duration",
     .type = FIELD_DURATION,
     .offset = offsetof(struct plan, duration_ns),
     .def = "5s",
     .min = 10 * LB_MS_NS,
     .max = DAY_NS,
     .help = "the measured window of each stage"},
    {.section = "run",
     .key = "drain",
     .type = FIELD_DURATION,
     .offset = offsetof(struct plan, drain_ns),
     .def = "10s",
     .min = 10 * LB_MS_NS,
     .max = HOUR_NS,
     .help = "how long attempts that the window's end found under way may take to finish"},
    {.section = "run",
     .key = "repeat",
     .type = FIELD_INT,
     .offset = offsetof(struct plan, repeat),
     .def = "1",
     .min = 1,
     .max = 1000,
     .help = "how often the whole list of stages is measured"},

    {.section = "check",
     .key = "gap",
     .type = FIELD_GAP,
     .def = "yield",
     .allowed = "none, yield, or a duration above 0",
     .help = "what a holder does between reading and writing the guarded counter"},

    {.section = "servers",
     .key = "durability",
     .type = FIELD_CHOICE_TEXT,
     .offset = offsetof(struct plan, durability),
     .def = "default",
     .choices = "default,none,sync",
     .help =
         "what servers that lockbench starts do with a write: their own default, memory only, or disk first"},
    {0},
};

const struct field *fields(void) {
    return table;
}

const struct field *field_find(const char *section, const char *key) {
    for (const struct field *field = table; field->section; field++) {
        if (strcmp(field->section, section) == 0 && strcmp(field->key, key) == 0) return field;
    }
    return NULL;
}

static int read_text(const char *text, size_t max_bytes, const char **ret, struct arena *arena,
                     struct lb_err *err) {
    size_t len = strlen(text);
    if (len > max_bytes) return err_set(err, LB_EXIT_USAGE, "longer than %zu characters", max_bytes);
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
        return err_set(err, LB_EXIT_USAGE, "'%.40s' has a character that a folder's name can't", text);
    return read_text(text, NAME_MAX_BYTES, ret, arena, err);
}

static int read_choice(const struct field *field, const char *text, void *at, struct arena *arena,
                       struct lb_err *err) {
    int index = 0;
    if (text_choice(text, field->choices, &index, err)) return -1;
    if (field->type == FIELD_CHOICE_TEXT) return read_text(text, strlen(text), at, arena, err);
    memcpy(at, &(unsigned){(unsigned)index}, sizeof(unsigned)); /* an enum without negative values */
    return 0;
}

int field_read(const struct field *field, const char *text, struct plan *plan, struct arena *arena,
               struct lb_err *err) {
    void *at = (char *)plan + field->offset;
    int64_t whole = 0, min = (int64_t)field->min, max = (int64_t)field->max;
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
    case FIELD_SEED:
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
    case FIELD_CLIENTS:
        return ladder_parse(text, plan->clients, &plan->clients_count, err);
    case FIELD_KEYS:
        return keyspace_parse(text, at, err);
    case FIELD_ARRIVAL:
        return arrival_parse(text, at, err);
    case FIELD_DIST:
        return dist_parse(text, at, err);
    case FIELD_GAP:
        return gap_parse(text, &plan->gap, &plan->gap_ns, err);
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
    case FIELD_SEED:
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
    case FIELD_CLIENTS:
        ladder_text(plan->clients, plan->clients_count, text, size);
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
        snprintf(text, size, "a duration, %s to %s", duration_text((int64_t)field->min, low, sizeof low),
                 duration_text((int64_t)field->max, high, sizeof high));
    } else {
        snprintf(text, size, "a whole number, %.0f to %.0f", field->min, field->max);
    }
    return text;
}

static json_t *clients_json(const struct plan *plan) {
    json_t *array = json_array();
    for (int i = 0; i < plan->clients_count; i++) {
        if (json_array_append_new(array, json_integer(plan->clients[i]))) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
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
    case FIELD_SEED:
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
    case FIELD_CLIENTS:
        value = clients_json(plan);
        break;
    default:
        value = json_string(field_text(field, plan, text, sizeof text));
    }
    return json_object_set_new(section, name, value);
}
