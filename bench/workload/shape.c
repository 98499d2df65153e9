/* shape: the types of keys with a grammar of their own; see sections.h. */
#include "bench/workload/sections.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/option/text.h"
#include "bench/workload/plan.h"

#define TIME_MAX_NS (3600 * LB_S_NS) /* of a mean hold or think: the range of the histograms */
#define RATE_MAX 1e7                 /* arrivals a second */
#define SIGMA_MIN 0.01
#define SIGMA_MAX 3.0
#define ZIPF_MIN 0.01
#define ZIPF_MAX 5.0
#define RATE_MIN 0.001

/* Splits "a:b:c" at colons into trimmed words. Returns how many, -1 when there are too many or too
 * long ones. */
static int split_at_colons(const char *text, char words[3][48]) {
    for (int count = 0; count < 3; count++) {
        size_t len = strcspn(text, ":");
        if (text_trim(text, len, words[count], sizeof words[count])) return -1;
        if (text[len] == '\0') return count + 1;
        text += len + 1;
    }
    return -1;
}

static int read_dist(const struct option_into *into, const char *text, struct lb_err *err) {
    static const char names[] = "constant,exponential,lognormal";
    char words[3][48];
    int count = split_at_colons(text, words), kind = DIST_CONSTANT;
    if (count < 0)
        return err_set(err, LB_EXIT_USAGE, "'%.60s' is not a duration or distribution", text);
    if (count > 1 && text_choice(words[0], names, &kind, err)) return -1;
    struct dist dist = {.kind = (enum dist_kind)kind};
    if (count == 1 && strspn(words[0], "abcdefghijklmnopqrstuvwxyz") == strlen(words[0])) {
        if (text_choice(words[0], names, &kind, err)) return -1;
        return err_set(err, LB_EXIT_USAGE, "'%s' needs a mean: %s:5ms%s, say", words[0], words[0],
                       kind == DIST_LOGNORMAL ? ":0.7" : "");
    }
    if (text_duration(words[count > 1], 0, TIME_MAX_NS, &dist.mean_ns, err)) return -1;
    if (kind == DIST_LOGNORMAL) {
        if (count < 3) {
            return err_set(err, LB_EXIT_USAGE,
                           "'%.60s' lacks the sigma of the logarithm: %.60s:0.7, say", text, text);
        }
        if (text_real(words[2], SIGMA_MIN, SIGMA_MAX, &dist.sigma, err))
            return err_prefix(err, "sigma");
    } else if (count == 3) {
        return err_set(err, LB_EXIT_USAGE, "'%.60s' has more than a mean", text);
    }
    *(struct dist *)into->at = dist;
    return 0;
}

static void format_dist(const struct lb_option *option, const void *in, char *text, size_t size) {
    const struct dist *dist = in;
    char mean[32], sigma[32];
    (void)option;
    duration_text(dist->mean_ns, mean, sizeof mean);
    switch (dist->kind) {
    case DIST_CONSTANT:
        snprintf(text, size, "%s", mean);
        break;
    case DIST_EXPONENTIAL:
        snprintf(text, size, "exponential:%s", mean);
        break;
    case DIST_LOGNORMAL:
        snprintf(text, size, "lognormal:%s:%s", mean, real_text(dist->sigma, sigma, sizeof sigma));
        break;
    }
}

static int read_arrival(const struct option_into *into, const char *text, struct lb_err *err) {
    char words[3][48];
    int count = split_at_colons(text, words), kind;
    if (strchr(text, ','))
        return err_set(err, LB_EXIT_USAGE,
                       "one arrival process only; several rates are load.rates = 200, 500");
    if (count < 0) return err_set(err, LB_EXIT_USAGE, "'%.60s' is not an arrival process", text);
    if (text_choice(words[0], "closed,constant,poisson", &kind, err)) return -1;
    struct arrival arrival = {.kind = (enum arrival_kind)kind};
    if (kind == ARRIVAL_CLOSED) {
        if (count > 1) return err_set(err, LB_EXIT_USAGE, "closed arrival has no rate");
    } else {
        if (count != 2) {
            return err_set(err, LB_EXIT_USAGE,
                           "%s arrival needs a rate for all clients together: %s:500/s, say",
                           words[0], words[0]);
        }
        size_t len = strlen(words[1]);
        if (len > 2 && strcmp(words[1] + len - 2, "/s") == 0) words[1][len - 2] = '\0';
        if (text_real(words[1], RATE_MIN, RATE_MAX, &arrival.rate_per_s, err))
            return err_prefix(err, "rate a second");
    }
    *(struct arrival *)into->at = arrival;
    return 0;
}

char *arrival_text(const struct arrival *arrival, char *text, size_t size) {
    static const char *const names[] = {"closed", "constant", "poisson"};
    char rate[32];
    if (arrival->kind == ARRIVAL_CLOSED) {
        snprintf(text, size, "closed");
    } else {
        snprintf(text, size, "%s:%s/s", names[arrival->kind],
                 real_text(arrival->rate_per_s, rate, sizeof rate));
    }
    return text;
}

static int read_keyspace(const struct option_into *into, const char *text, struct lb_err *err) {
    struct keyspace *ret = into->at;
    if (strcmp(text, "own") == 0) {
        *ret = (struct keyspace){.pick = KEYS_OWN};
        return 0;
    }
    char count_word[48], pick_word[48];
    size_t len = strcspn(text, " \t");
    int64_t count = 0;
    struct keyspace keys = {.pick = KEYS_UNIFORM};
    if (text_trim(text, len, count_word, sizeof count_word) ||
        text_trim(text + len, strlen(text + len), pick_word, sizeof pick_word)) {
        return err_set(err, LB_EXIT_USAGE, "'%.60s' is not a number of keys", text);
    }
    if (strspn(count_word, "-0123456789") != strlen(count_word)) {
        return err_set(err, LB_EXIT_USAGE, "'%s' is neither a number of keys nor own", count_word);
    }
    if (text_int(count_word, 1, PLAN_KEYS_MAX, &count, err)) return -1;
    keys.count = (uint32_t)count;
    if (*pick_word && strcmp(pick_word, "uniform") != 0) {
        char words[3][48];
        if (split_at_colons(pick_word, words) != 2 || strcmp(words[0], "zipf") != 0)
            return err_set(err, LB_EXIT_USAGE,
                           "'%s' is not uniform or, with its exponent, zipf:0.99", pick_word);
        if (text_real(words[1], ZIPF_MIN, ZIPF_MAX, &keys.zipf_s, err))
            return err_prefix(err, "zipf's exponent");
        if (count < 2) return err_set(err, LB_EXIT_USAGE, "zipf needs two keys or more");
        keys.pick = KEYS_ZIPF;
    }
    *ret = keys;
    return 0;
}

int names_add(const char **names, int *count, const char *name, struct arena *arena,
              struct lb_err *err) {
    for (int i = 0; i < *count; i++) {
        if (strcmp(names[i], name) == 0)
            return err_set(err, LB_EXIT_USAGE, "'%s' is there twice", name);
    }
    names[*count] = arena_text(arena, name);
    if (!names[*count]) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    ++*count;
    return 0;
}

char *names_text(const char *const *names, int count, const char *joint, char *text, size_t size) {
    size_t used = 0;
    for (int i = 0; i < count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? joint : "", names[i]);
    return text;
}

int key_name_check(const char *name, struct lb_err *err) {
    size_t length = strlen(name);
    if (length == 0 || length > PLAN_KEY_NAME_MAX)
        return err_set(err, LB_EXIT_USAGE, "a key's name has 1 to %d bytes", PLAN_KEY_NAME_MAX);
    if (strchr(name, ','))
        return err_set(err, LB_EXIT_USAGE, "'%s': a key's name has no comma", name);
    if (isspace((unsigned char)*name) || isspace((unsigned char)name[length - 1]))
        return err_set(err, LB_EXIT_USAGE, "'%s': a key's name has no blank at an end", name);
    return 0;
}

static int read_key_names(const struct option_into *into, const char *text, struct lb_err *err) {
    char name[PLAN_KEY_NAME_MAX + 2]; /* so that one is seen to be too long */
    int room = 1, count = 0;
    for (const char *at = text; *at; at++) room += *at == ',';
    const char **names = arena_alloc(into->arena, (size_t)room * sizeof *names);
    if (!names) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    for (const char *at = *text ? text : NULL; text_item(&at, name, sizeof name);) {
        if (key_name_check(name, err) || names_add(names, &count, name, into->arena, err))
            return -1;
    }
    *(struct key_names *)into->at = (struct key_names){names, count};
    return 0;
}

static void format_key_names(const struct lb_option *option, const void *in, char *text,
                             size_t size) {
    const struct key_names *names = in;
    (void)option;
    text[0] = '\0';
    names_text(names->item, names->count, ",", text, size);
}

static void format_keyspace(const struct lb_option *option, const void *in, char *text,
                            size_t size) {
    const struct keyspace *keys = in;
    char s[32];
    (void)option;
    switch (keys->pick) {
    case KEYS_OWN:
        snprintf(text, size, "own");
        break;
    case KEYS_UNIFORM:
        snprintf(text, size, keys->count == 1 ? "%u" : "%u uniform", (unsigned)keys->count);
        break;
    case KEYS_ZIPF:
        snprintf(text, size, "%u zipf:%s", (unsigned)keys->count,
                 real_text(keys->zipf_s, s, sizeof s));
        break;
    }
}

static void format_arrival(const struct lb_option *option, const void *in, char *text,
                           size_t size) {
    (void)option;
    arrival_text(in, text, size);
}

const struct lb_option_type type_dist = {
    .bytes = sizeof(struct dist),
    .read = read_dist,
    .text = format_dist,
    .words = "0, 5ms, exponential:5ms, or lognormal:5ms:0.7 (mean, sigma of the logarithm)",
};

const struct lb_option_type type_arrival = {
    .bytes = sizeof(struct arrival),
    .read = read_arrival,
    .text = format_arrival,
    .words = "closed, constant:500/s, or poisson:500/s",
};

const struct lb_option_type type_keyspace = {
    .bytes = sizeof(struct keyspace),
    .read = read_keyspace,
    .text = format_keyspace,
    .words = "own, 1 to 10000000, 1000 uniform, or 1000 zipf:0.99",
};

const struct lb_option_type type_key_names = {
    .bytes = sizeof(struct key_names),
    .read = read_key_names,
    .text = format_key_names,
    .words = "names between commas, each once, of 1 to 95 bytes",
};

/* ---- lists of numbers or durations, each of which gets a stage of its own ---- */

static bool are_durations(const struct lb_option *option) {
    return option->type->bytes == sizeof(int64_t[PLAN_LADDER_MAX]);
}

/* Of durations the word that means 0 is NO_DURATION. Returns how many there are, or -1 with err. */
static int split_list(const struct lb_option *option, const char *text, int64_t *ret,
                      struct lb_err *err) {
    int64_t min = (int64_t)option->min, max = (int64_t)option->max;
    bool durations = are_durations(option);
    int count = 0;
    char word[64];
    for (const char *at = text; text_item(&at, word, sizeof word);) {
        int64_t step = NO_DURATION;
        if (!*word)
            return err_set(err, LB_EXIT_USAGE, "'%.60s' is not a list of %s", text,
                           durations ? "durations like 1ms, 20ms" : "numbers like 1, 2, 4");
        bool none = durations && option_is_zero_word(option, word);
        if (!none && (durations ? text_duration : text_int)(word, min, max, &step, err)) return -1;
        for (int i = 0; i < count; i++) {
            if (ret[i] == step)
                return err_set(err, LB_EXIT_USAGE,
                               "%s is there twice; to measure a stage again, set run.repeat", word);
        }
        if (count == PLAN_LADDER_MAX)
            return err_set(err, LB_EXIT_USAGE, "more than %d steps", PLAN_LADDER_MAX);
        ret[count++] = step;
    }
    return count;
}

/* How many there are is the member behind them in struct plan. */
static int *count_of(const struct lb_option *option, const void *list) {
    return (int *)((uintptr_t)list + option->type->bytes);
}
#define SECTION(name)
#define SECTION_END
#define KEY(...)
#define LIST(c_type, list, count, ...)                                                             \
    _Static_assert(offsetof(struct plan, count) ==                                                 \
                       offsetof(struct plan, list) + sizeof((struct plan *)0)->list,               \
                   "the count is behind the list");
#include "bench/workload/keys.def"

static int64_t item_of(const struct lb_option *option, const void *list, int i) {
    return are_durations(option) ? ((const int64_t *)list)[i] : ((const int *)list)[i];
}

static int read_list(const struct option_into *into, const char *text, struct lb_err *err) {
    int64_t found[PLAN_LADDER_MAX];
    bool durations = are_durations(into->option);
    bool empty = !durations && option_is_zero_word(into->option, text);
    int count = empty ? 0 : split_list(into->option, text, found, err);
    if (count < 0) return -1;
    for (int i = 0; i < count && !durations; i++) ((int *)into->at)[i] = (int)found[i];
    if (durations) memcpy(into->at, found, sizeof *found * (size_t)count);
    *count_of(into->option, into->at) = count;
    return 0;
}

static void format_list(const struct lb_option *option, const void *in, char *text, size_t size) {
    int count = *count_of(option, in);
    size_t used = 0;
    if (count == 0) snprintf(text, size, "%s", option->choices ? option->choices : "");
    for (int i = 0; i < count && used < size; i++) {
        char one[40];
        int64_t item = item_of(option, in, i);
        snprintf(one, sizeof one, "%lld", (long long)item);
        if (are_durations(option)) duration_text(item, one, sizeof one);
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "",
                                 item == NO_DURATION ? option->choices : one);
    }
}

static void allowed_numbers(const struct lb_option *option, char *text, size_t size) {
    snprintf(text, size, "%s%s%.0f to %.0f, or a list 1,2,4",
             option->choices ? option->choices : "", option->choices ? ", " : "", option->min,
             option->max);
}

/* One lease is a number, as it was before there were several. */
static json_t *json_list(const struct lb_option *option, const void *in) {
    int count = *count_of(option, in);
    if (are_durations(option) && count == 1) return json_integer(item_of(option, in, 0));
    json_t *json = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(json, json_integer(item_of(option, in, i)));
    return json;
}

const struct lb_option_type type_numbers = {.bytes = sizeof(int[PLAN_LADDER_MAX]),
                                            .read = read_list,
                                            .text = format_list,
                                            .allowed = allowed_numbers,
                                            .json = json_list};

#define DURATIONS .bytes = sizeof(int64_t[PLAN_LADDER_MAX]), .read = read_list, .text = format_list

const struct lb_option_type type_leases = {
    DURATIONS, .words = "a duration from 1ms to 24h, or a list like 500ms, 1s, 2s",
    .json = json_list, .unit = "_ns"};

const struct lb_option_type type_rtts = {
    DURATIONS, .words = "none, a duration from 0 to 1s, or a list like none, 0, 500us, 20ms"};
