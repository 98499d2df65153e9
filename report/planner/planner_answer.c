/* planner_answer: judges a load by one measurement of capacity. See planner.h. */
#define _GNU_SOURCE
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/guarantee.h"
#include "bench/base/plain_word.h"
#include "report/doc/number.h"
#include "report/planner/planner.h"
#include "results/stats/queue.h"

#define NS_PER_S 1e9
/* relative: two figures are equal if they differ less, since they were written as text */
#define SAME 1e-6

static bool same(double a, double b) {
    return fabs(a - b) <= SAME * fmax(fabs(a), fabs(b));
}

/* Reads "12ms", "1.5s", "0" as ns; NAN for a value that varies ("lognormal:..."). */
static double fixed_time(const char *text) {
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}};
    char *end;
    double value = text ? strtod(text, &end) : NAN;
    if (!text || end == text || !(value >= 0)) return NAN;
    if (*end == '\0') return value == 0 ? 0 : NAN;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(end, units[i].name) == 0) return value * units[i].ns;
    }
    return NAN;
}

static double key_count(const struct capacity_lock *lock) {
    const char *pick = lock->key_distribution;
    bool even = !pick || strcmp(pick, "uniform") == 0;
    if (!lock->keys || !even) return NAN;
    char *end;
    double keys = strtod(lock->keys, &end);
    return keys >= 1 && *end == '\0' ? keys : NAN;
}

/* The load of the question, in the terms of the measurement. */
static double asked(const struct planner_ask *ask) {
    return isnan(ask->rate) ? ask->clients : ask->rate;
}

static int fill_verdict(struct planner_answer *answer, enum planner_verdict verdict,
                        const char *format, ...) __attribute__((format(printf, 3, 4)));
static int fill_verdict(struct planner_answer *answer, enum planner_verdict verdict,
                        const char *format, ...) {
    char *sentence = NULL, *all = NULL;
    va_list args;
    va_start(args, format);
    int length = vasprintf(&sentence, format, args);
    va_end(args);
    if (length < 0) return -1;
    length =
        asprintf(&all, "%s%s%s", answer->why ? answer->why : "", answer->why ? "; " : "", sentence);
    free(sentence);
    if (length < 0) return -1;
    free(answer->why);
    answer->why = all;
    answer->verdict = verdict;
    return 0;
}

/* Names come from a file, and people copy the command into a shell, so only plain names are
 * used. */
static bool is_plain_name(const char *text) {
    return text && *text && text[strspn(text, PLAIN_NAME)] == '\0';
}

/* Reads the next word of a command line as a shell does, quoted or not. 0 at the end, and for a
 * word that shell_command would not write. */
static size_t word_length(const char *at) {
    if (*at != '\'') return strspn(at, PLAIN_WORD);
    const char *end = strchr(at + 1, '\'');
    return end ? (size_t)(end + 1 - at) : 0;
}

/* A word of a command line, with its quotes. */
struct word {
    const char *at;
    size_t length;
};

/* Finds the next value of an option, " --set", and moves *at behind it. */
static bool next_value(const char **at, const char *option, struct word *ret) {
    while (*at && (*at = strstr(*at, option))) {
        *at += strlen(option);
        if (**at != ' ' && **at != '=') continue;
        const char *value = *at + 1;
        size_t length = word_length(value);
        if (length == 0 || (value[length] != ' ' && value[length] != '\0')) continue;
        *at = value + length;
        *ret = (struct word){value, length};
        return true;
    }
    return false;
}

/* True if a word, quoted or not, begins with a name and then `end`. */
static bool begins_with(const struct word *word, const char *name, char end) {
    const char *text = *word->at == '\'' ? word->at + 1 : word->at;
    size_t length = strlen(name);
    return strncmp(text, name, length) == 0 && text[length] == end;
}

/* Adds the URL of a server that the user started. A URL that is not known is left to the user:
 * without one the command would measure a server of lockbench's own. */
static void put_url(FILE *out, const char *command, const char *backend) {
    struct word word;
    while (next_value(&command, " --url", &word)) {
        if (!begins_with(&word, backend, '=')) continue;
        if (memmem(word.at, word.length, "***", 3)) break; /* its password is hidden */
        fprintf(out, " --url %.*s", (int)word.length, word.at);
        return;
    }
    fprintf(out, " --url %s=URL", backend);
}

/* Adds what the search was told of its place: the URL of a server that the user started, and the
 * settings of the backend (TLS, accounts), the lock and the servers. */
static void put_place(FILE *out, const struct planner_answer *answer, const char *topology) {
    const struct capacity_lock *lock = answer->lock;
    const char *at = answer->from->command, *backend = lock->backend;
    bool same_place = topology && lock->topology && strcmp(topology, lock->topology) == 0;
    struct word word;
    if (!is_plain_name(backend)) return;
    if (same_place && strcmp(topology, "url") == 0) put_url(out, at, backend);
    while (next_value(&at, " --set", &word)) {
        bool of_servers = same_place && begins_with(&word, "servers", '.') &&
                          !begins_with(&word, "servers.topology", '=');
        if (of_servers || begins_with(&word, backend, '.') || begins_with(&word, lock->lock, '.') ||
            begins_with(&word, "load.key_prefix", '='))
            fprintf(out, " --set %.*s", (int)word.length, word.at);
    }
}

/* The command of the search that would answer. most: the greatest load of that search, NAN for its
 * default. */
static int settle(struct planner_answer *answer, const struct planner_ask *ask, double most) {
    const struct capacity_lock *lock = answer->lock;
    char *text = NULL;
    size_t size;
    if (!is_plain_name(lock->lock)) return 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) return -1;
    fprintf(out, "lockbench capacity %s%s --slo '%s'", lock->lock,
            isnan(ask->rate) ? " --clients" : "", ask->slo);
    if (!isnan(ask->hold_ns)) {
        fprintf(out, " --hold %.15gms", ask->hold_ns / 1e6);
    } else if (is_plain_name(lock->hold)) {
        fprintf(out, " --hold %s", lock->hold);
    }
    fprintf(out, " --keys %.0f", ask->keys);
    if (!isnan(most)) fprintf(out, " --most %.0f", ceil(most));
    if (!isnan(ask->rate) && !isnan(ask->clients))
        fprintf(out, " --set load.clients=%.0f", ask->clients);
    if (answer->verdict == PLANNER_CLOSE && !answer->model)
        fprintf(out, " --time 10m"); /* more time gives a narrower answer */
    const char *topology = ask->topology ? ask->topology : lock->topology;
    bool stated = is_plain_name(topology) && strcmp(topology, "url") != 0 &&
                  strcmp(topology, "embedded") != 0;
    if (stated && (!lock->backend || strcmp(topology, lock->backend) != 0))
        fprintf(out, " --set servers.topology=%s", topology);
    put_place(out, answer, topology);
    if (fclose(out) != 0) {
        free(text);
        return -1;
    }
    answer->settle = text;
    return 0;
}

int planner_settle(const struct planner_ask *ask, char **ret_command) {
    const struct capacity from = {0};
    const struct capacity_lock lock = {.lock = ask->lock ? ask->lock : "LOCK"};
    struct planner_answer answer = {.from = &from, .lock = &lock, .verdict = PLANNER_UNKNOWN};
    if (settle(&answer, ask, NAN) != 0) return -1;
    *ret_command = answer.settle;
    return 0;
}

static int refuse_answer(struct planner_answer *answer, const struct planner_ask *ask, double most,
                         const char *format, ...) __attribute__((format(printf, 4, 5)));
static int refuse_answer(struct planner_answer *answer, const struct planner_ask *ask, double most,
                         const char *format, ...) {
    char sentence[300];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    answer->model = false;
    if (fill_verdict(answer, PLANNER_UNKNOWN, "%s", sentence) != 0) return -1;
    return settle(answer, ask, most);
}

/* The verdict if the promise is certainly kept up to `carries`, and certainly broken from `breaks`
 * on. */
static int weigh(struct planner_answer *answer, const struct planner_ask *ask) {
    double load = asked(ask);
    const char *unit = isnan(ask->rate) ? " clients" : "/s";
    char carries[NUMBER_TEXT_MAX], breaks[NUMBER_TEXT_MAX];
    number_text(answer->carries, &number_plain, carries);
    number_text(answer->breaks, &number_plain, breaks);
    const char *by = answer->model ? "by the model " : "";
    if (answer->carries >= answer->breaks) {
        answer->carries = answer->breaks = NAN;
        if (fill_verdict(answer, PLANNER_CLOSE,
                         "they contradict each other: kept at %s%s, broken at %s%s", carries, unit,
                         breaks, unit) != 0)
            return -1;
        return settle(answer, ask, NAN);
    }
    if (load <= answer->carries) {
        answer->margin = answer->carries / load;
        return fill_verdict(answer, PLANNER_CARRIES, "%sthe promise is kept up to %s%s", by,
                            carries, unit);
    }
    if (load >= answer->breaks) {
        answer->margin = answer->breaks / load;
        return fill_verdict(answer, PLANNER_TOO_MUCH, "%sthe promise is broken from %s%s on", by,
                            breaks, unit);
    }
    if (isnan(answer->breaks)) {
        bool generator = answer->lock->limited_by == CAPACITY_LIMIT_GENERATOR;
        return refuse_answer(
            answer, ask, 2 * load,
            "%sthe promise is kept up to %s%s, and nothing is known about a greater load%s", by,
            carries, unit, generator ? ", since the load generator was the limit" : "");
    }
    if (fill_verdict(answer, PLANNER_CLOSE,
                     "%sbetween %s%s, where the promise is kept, and %s%s, where it is broken", by,
                     isnan(answer->carries) ? "0" : carries, unit, breaks, unit) != 0)
        return -1;
    return settle(answer, ask, NAN);
}

/* True if a probe says that a limit is broken. A probe in which so many requests were never granted
 * that the quantile does not exist has no figure, and is the worst. */
static bool is_broken_for(const struct capacity_lock *lock, const struct capacity_probe *probe,
                          double limit_ns) {
    bool as_searched = probe->verdict == PROMISE_BROKEN && lock->limit_ns >= limit_ns;
    return !probe->limited_by && (probe->grew || probe->low_ns > limit_ns || as_searched);
}

/* True if a probe says that a limit is kept. Requests that never started have no time, so their
 * number must be too small to matter. */
static bool is_kept_for(const struct planner_ask *ask, const struct capacity_probe *probe) {
    bool few = !(probe->missed > (1 - ask->quantile) / 2 * probe->samples);
    return probe->high_ns <= ask->limit_ns && few && !probe->grew;
}

/* True if a probe kept its promise and its interval is missing, as in files of older builds: under
 * a stricter limit nobody can tell then. */
static bool lacks_intervals(const struct capacity_lock *lock, double limit_ns) {
    for (int i = 0; i < lock->probe_count && limit_ns < lock->limit_ns; i++) {
        const struct capacity_probe *probe = &lock->probes[i];
        if (probe->verdict == PROMISE_KEPT && isnan(probe->high_ns)) return true;
    }
    return false;
}

/* Reads the answer and the probes under another limit than that of the search: finds the greatest
 * load that keeps the limit, below the least load that breaks it. Two probes must agree, since
 * requests of one probe queue behind each other, so that its interval is too narrow near the edge.
 * No rate above the throughput of the closed loop is kept for long. */
static void bounds_of_probes(const struct planner_ask *ask, struct planner_answer *answer) {
    const struct capacity_lock *lock = answer->lock;
    double breaks = INFINITY, carries = 0; /* by one probe */
    /* A load that keeps a stricter promise keeps this one, and a load that breaks a looser one
     * breaks this one. */
    if (lock->answered && lock->limit_ns < ask->limit_ns) answer->carries = lock->low;
    if (lock->answered && lock->limit_ns > ask->limit_ns && lock->limited_by == CAPACITY_LIMIT_SLO)
        answer->breaks = lock->high;
    for (int i = 0; i < lock->probe_count; i++) {
        const struct capacity_probe *probe = &lock->probes[i];
        if (!is_broken_for(lock, probe, ask->limit_ns)) continue;
        double agreed = fmax(breaks, probe->value);
        if (agreed < INFINITY && !(answer->breaks <= agreed)) answer->breaks = agreed;
        breaks = fmin(breaks, probe->value);
    }
    for (int i = 0; i < lock->probe_count; i++) {
        const struct capacity_probe *probe = &lock->probes[i];
        if (!is_kept_for(ask, probe) || probe->value >= answer->breaks) continue;
        /* fmin ignores a load that is not known */
        double agreed = fmin(fmin(carries, probe->value), lock->saturated_per_s);
        if (agreed > 0 && !(answer->carries >= agreed)) answer->carries = agreed;
        carries = fmax(carries, probe->value);
    }
    /* The search was surer of its own limit, and a stricter one is kept by no greater load. */
    if (lock->answered && lock->limit_ns > ask->limit_ns && answer->carries > lock->low)
        answer->carries = lock->low;
}

static int judge_measured(const struct planner_ask *ask, struct planner_answer *answer) {
    const struct capacity_lock *lock = answer->lock;
    if (same(lock->limit_ns, ask->limit_ns)) {
        if (!lock->answered)
            return refuse_answer(answer, ask, NAN, "the search found no answer%s%s",
                                 lock->why ? ": " : "", lock->why ? lock->why : "");
        answer->carries = lock->low;
        answer->breaks = lock->limited_by == CAPACITY_LIMIT_SLO ? lock->high : NAN;
        return weigh(answer, ask);
    }
    answer->of_another = true;
    bounds_of_probes(ask, answer);
    if (isnan(answer->carries) && isnan(answer->breaks))
        return refuse_answer(answer, ask, NAN,
                             "measured for %s, and its probes do not decide the limit asked for",
                             lock->slo);
    bool undecided = !(asked(ask) <= answer->carries) && !(asked(ask) >= answer->breaks);
    if (undecided && lacks_intervals(lock, ask->limit_ns))
        return refuse_answer(answer, ask, NAN,
                             "measured for %s, by an older lockbench that did not store the "
                             "intervals which a stricter limit needs: search again",
                             lock->slo);
    if (fill_verdict(answer, PLANNER_UNKNOWN, "read from the probes of a search for %s",
                     lock->slo) != 0)
        return -1;
    return weigh(answer, ask);
}

/* The greatest rate at which the quantile of the wait stays within left_ns, if waits are `factor`
 * times those of the model. */
static double rate_within(double service_ns, double keys, double quantile, double factor,
                          double left_ns) {
    double low = 0, high = keys / service_ns;
    if (!(left_ns > 0)) return 0;
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        double wait = factor * queue_md1_quantile(middle / keys, service_ns, quantile);
        if (wait <= left_ns) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low * NS_PER_S;
}

/* The figures of the probes that kept their promise. */
struct kept {
    /* the greatest load that two of them agree on, 0: none; and its quantile */
    double most, most_ns;
    double least, least_ns; /* the least load and its quantile: there almost no request waits */
};

static struct kept kept_of(const struct capacity_lock *lock) {
    struct kept kept = {.most_ns = NAN, .least = INFINITY, .least_ns = NAN};
    double greatest = 0, greatest_ns = NAN; /* of one probe */
    for (int i = 0; i < lock->probe_count; i++) {
        const struct capacity_probe *probe = &lock->probes[i];
        if (probe->verdict != PROMISE_KEPT) continue;
        bool above = probe->value > greatest;
        double second = above ? greatest : probe->value;
        if (second > kept.most) {
            kept.most = second;
            kept.most_ns = above ? greatest_ns : probe->quantile_ns;
        }
        if (above) {
            greatest = probe->value;
            greatest_ns = probe->quantile_ns;
        }
        if (probe->value >= kept.least) continue;
        kept.least = probe->value;
        kept.least_ns = probe->quantile_ns;
    }
    return kept;
}

/* Returns 0 if the model can answer the question; 1 if it cannot, and the answer says why; -1 when
 * out of memory. */
static int refuse_model(const struct planner_ask *ask, struct planner_answer *answer,
                        double hold_ns, double keys) {
    const struct capacity_lock *lock = answer->lock;
    int rc = 0;
    double hold = isnan(ask->hold_ns) ? hold_ns : ask->hold_ns;
    double factor = lock->wait_measured_ns / lock->wait_predicted_ns;
    const char *plural = keys > 1 ? "s" : "";
    char times[NUMBER_TEXT_MAX];
    if (isnan(ask->rate)) {
        rc = refuse_answer(answer, ask, NAN,
                           "a closed loop with another hold or other keys was not measured");
    } else if (isnan(hold_ns) || isnan(keys)) {
        rc = refuse_answer(
            answer, ask, NAN,
            "measured with hold %s and keys %s, of which the model of a hot key says nothing",
            lock->hold ? lock->hold : "?", lock->keys ? lock->keys : "?");
    } else if (hold > PLANNER_RANGE * hold_ns || hold < hold_ns / PLANNER_RANGE ||
               ask->keys > PLANNER_RANGE * keys || ask->keys < keys / PLANNER_RANGE) {
        rc = refuse_answer(
            answer, ask, NAN,
            "measured with hold %s and %s key%s: one of them is more than a factor of 2 from what was asked, and the model is not used beyond that",
            lock->hold, lock->keys, plural);
    } else if (!lock->modelled || !(lock->wait_predicted_ns > 0) ||
               !(lock->wait_measured_ns >= 0)) {
        rc = refuse_answer(
            answer, ask, NAN,
            "measured with hold %s and %s key%s, without the figures that a model needs",
            lock->hold, lock->keys, plural);
    } else if (factor > PLANNER_MODEL || factor < 1 / PLANNER_MODEL) {
        rc = refuse_answer(
            answer, ask, NAN,
            "measured with hold %s and %s key%s, and the model does not describe this lock: its "
            "waits were %s times the predicted ones",
            lock->hold, lock->keys, plural, number_text(factor, &number_plain, times));
    } else {
        return 0;
    }
    return rc == 0 ? 1 : -1;
}

/* Answers for other holds or keys than were measured, by the model of a hot key. The model must
 * have predicted the measured waits, and its predictions then get the same uncertainty: from the
 * worse of the two factors with the whole time of an acquire on an idle lock added, to the better
 * of the two with nothing added. */
static int judge_model(const struct planner_ask *ask, struct planner_answer *answer, double hold_ns,
                       double keys) {
    const struct capacity_lock *lock = answer->lock;
    int refused = refuse_model(ask, answer, hold_ns, keys);
    if (refused != 0) return refused > 0 ? 0 : -1;
    const struct kept kept = kept_of(lock);
    double hold = isnan(ask->hold_ns) ? hold_ns : ask->hold_ns, most = kept.most;
    double factor = lock->wait_measured_ns / lock->wait_predicted_ns;
    char load[NUMBER_TEXT_MAX], times[NUMBER_TEXT_MAX], handoff[NUMBER_TEXT_MAX];
    if (isnan(kept.most_ns))
        return refuse_answer(answer, ask, NAN,
                             "no two probes kept their promise: there is nothing to conclude from");
    /* The model may predict the mean but not the tail. Then it says nothing about a promise on the
     * tail. */
    double own = lock->hold_ns + lock->handoff_ns;
    double tail = kept.most_ns / queue_md1_quantile(most / NS_PER_S / keys, own, ask->quantile);
    if (!(tail <= PLANNER_MODEL))
        return refuse_answer(
            answer, ask, NAN,
            "measured with hold %s and %s key%s, and the model does not describe this lock's tail: "
            "at %s/s it was %s times the predicted one",
            lock->hold, lock->keys, keys > 1 ? "s" : "", number_text(most, &number_plain, load),
            number_text(tail, &number_plain, times));
    /* The measured part of a hold beyond its own time. */
    double service = hold + fmax(lock->hold_ns - hold_ns, 0) + lock->handoff_ns;
    answer->model = true;
    answer->carries = rate_within(service, ask->keys, ask->quantile, fmax(tail, fmax(factor, 1)),
                                  ask->limit_ns - kept.least_ns);
    answer->breaks = rate_within(service, ask->keys, ask->quantile, fmin(factor, 1), ask->limit_ns);
    if (fill_verdict(
            answer, PLANNER_UNKNOWN,
            "measured with hold %s and %s key%s; its waits were %s times those that M/D/1 predicts "
            "with a handoff of %s",
            lock->hold, lock->keys, keys > 1 ? "s" : "", number_text(factor, &number_plain, times),
            number_time_text(lock->handoff_ns, handoff)) != 0)
        return -1;
    if (ask->rate > PLANNER_RANGE * most && ask->rate < answer->breaks)
        return refuse_answer(answer, ask, 2 * ask->rate,
                             "no rate above %s/s was measured to keep the promise",
                             number_text(most, &number_plain, load));
    /* A key must not be busier than in a probe that kept the promise: beyond that load this lock
     * was not M/D/1. */
    double shown = (lock->answered ? lock->low : most) * own / keys * ask->keys / service;
    answer->carries = fmin(answer->carries, fmin(PLANNER_RANGE * most, shown));
    return weigh(answer, ask);
}

/* Accepts as many clients as were measured, fewer that can't be all busy, or up to twice as many.
 * 1: accepted; 0: refused; -1: out of memory. */
static int check_clients(const struct planner_ask *ask, struct planner_answer *answer,
                         double hold_ns) {
    double pool = answer->lock->clients;
    if (isnan(ask->rate) || isnan(ask->clients) || same(pool, ask->clients)) return 1;
    if (isnan(pool))
        return refuse_answer(answer, ask, NAN,
                             "the measurement does not state its number of clients");
    if (ask->clients > PLANNER_RANGE * pool)
        return refuse_answer(
            answer, ask, NAN,
            "measured with %.0f clients: more than twice as many may not be concluded", pool);
    double hold = isnan(ask->hold_ns) ? hold_ns : ask->hold_ns;
    double busy = ask->rate * (hold + ask->limit_ns) /
                  NS_PER_S; /* Little's law, if each request takes as long as is promised */
    if (ask->clients < pool && !(ask->clients >= busy))
        return refuse_answer(
            answer, ask, NAN,
            "measured with %.0f clients; %.0f may all be busy, and a request would then wait for a "
            "free client",
            pool, ask->clients);
    return fill_verdict(answer, PLANNER_UNKNOWN, "measured with %.0f clients", pool) == 0 ? 1 : -1;
}

/* The part of the time for which each key would be held, with the hold of the question or else of
 * the measurement. NAN: not known, or the lock is no mutex, or one of several segments. */
static double held_of(const struct planner_ask *ask, const struct capacity_lock *lock,
                      double measured_ns) {
    bool mutex = lock->primitive && strcmp(lock->primitive, "mutex") == 0 && !(lock->holders > 1);
    if (!mutex || lb_guarantee_from(lock->guarantee) == LB_NO_GUARANTEE) return NAN;
    return ask->rate * (isnan(ask->hold_ns) ? measured_ns : ask->hold_ns) / NS_PER_S / ask->keys;
}

/* A key of a mutex has one holder at a time, so no measurement is needed to refuse this load. */
static int refuse_impossible(struct planner_answer *answer, const struct planner_ask *ask) {
    char percent[NUMBER_TEXT_MAX];
    answer->margin = 1 / answer->held;
    answer->breaks = ask->rate * answer->margin;
    return fill_verdict(answer, PLANNER_TOO_MUCH,
                        "no mutex can: each key would be held for %s %% of the time",
                        number_text(100 * answer->held, &number_plain, percent));
}

int planner_answer(const struct planner_ask *ask, const struct capacity *from,
                   const struct capacity_lock *lock, struct planner_answer *ret) {
    double hold_ns = fixed_time(lock->hold), keys = key_count(lock);
    *ret = (struct planner_answer){.from = from,
                                   .lock = lock,
                                   .verdict = PLANNER_UNKNOWN,
                                   .carries = NAN,
                                   .breaks = NAN,
                                   .margin = NAN,
                                   .held = held_of(ask, lock, hold_ns)};
    if (lock->violated)
        return fill_verdict(ret, PLANNER_UNKNOWN, "exclusion was violated in this search");
    if (ret->held >= 1) return refuse_impossible(ret, ask);
    bool elsewhere =
        ask->topology && (!lock->topology || strcmp(lock->topology, ask->topology) != 0);
    if (elsewhere && ask->runs_on && !ask->runs_on(lock->lock, ask->topology))
        return fill_verdict(ret, PLANNER_UNKNOWN, "does not run on %s", ask->topology);
    if (!(from->method >= CAPACITY_METHOD)) /* NAN: a file of an older build */
        return refuse_answer(ret, ask, NAN,
                             "%s is of an older method of lockbench capacity, and is not used",
                             from->path);
    bool by_rate = lock->by == CAPACITY_BY_RATE;
    if (by_rate != !isnan(ask->rate))
        return refuse_answer(ret, ask, NAN, "searched by %s only",
                             by_rate ? "rate" : "the clients of a closed loop");
    if (!lock->metric || strcmp(lock->metric, ask->metric) != 0 ||
        !same(lock->quantile, ask->quantile))
        return refuse_answer(ret, ask, NAN, "measured for another promise, %s",
                             lock->slo ? lock->slo : "?");
    if (elsewhere)
        return refuse_answer(ret, ask, NAN, "measured on another topology, %s",
                             lock->topology ? lock->topology : "?");
    int clients = check_clients(ask, ret, hold_ns);
    if (clients <= 0) return clients;
    bool same_hold = isnan(ask->hold_ns) || same(hold_ns, ask->hold_ns);
    if (same_hold && same(keys, ask->keys)) return judge_measured(ask, ret);
    return judge_model(ask, ret, hold_ns, keys);
}
