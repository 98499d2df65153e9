/* capacity_show: see capacity_show.h. It computes nothing: what it shows is in capacity.json. */
#include "bench/cli/capacity_show.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/doc/escape.h"
#include "report/doc/number.h"
#include "report/doc/screen.h"
#include "report/run/words.h"

#define CELL_MAX 64
#define VIOLATED_WORDS "EXCLUSION VIOLATED: it let two in during the search, so it is no lock"

void capacity_show_probe(void *arg, const struct seek_news *news) {
    struct progress *progress = arg;
    const struct probe *probe = news->probe;
    char line[300], value[NUMBER_TEXT_MAX], low[NUMBER_TEXT_MAX], high[NUMBER_TEXT_MAX],
        between[120] = "";
    const char *limit = probe_limit_text(probe->limit);
    if (!isnan(probe->low_ns)) {
        snprintf(between, sizeof between, " (%s .. %s)", number_time_text(probe->low_ns, low),
                 isnan(probe->high_ns) ? "never" : number_time_text(probe->high_ns, high));
    }
    snprintf(line, sizeof line,
             "%-20s probe %2d  %8.6g%s: %s%s, %llu of %llu over the limit: %s%s%s", news->lock,
             news->number, probe->load, news->by_clients ? " clients" : "/s",
             isnan(probe->quantile_ns) ? "never" : number_time_text(probe->quantile_ns, value),
             between, (unsigned long long)probe->over, (unsigned long long)probe->samples,
             capacity_verdict_name(probe->verdict), limit ? ": " : "", limit ? limit : "");
    progress_stage(progress, line);
}

static const char *or_dash(const char *text) {
    return text ? text : NUMBER_NONE;
}

struct row {
    char carries[CELL_MAX], interval[CELL_MAX], model[CELL_MAX], predicted[CELL_MAX],
        measured[CELL_MAX];
    const char *limit;
};

static void load_text(double value, bool by_rate, char *text) {
    char number[NUMBER_TEXT_MAX];
    snprintf(text, CELL_MAX, "%s%s", number_text(value, &number_plain, number),
             by_rate && !isnan(value) ? "/s" : "");
}

static struct row row_of(const struct capacity_lock *lock) {
    static const char *const limits[] = {"no answer", "the promise", "generator", "range"};
    struct row row = {.limit = limits[lock->limited_by]};
    char low[CELL_MAX], high[CELL_MAX], number[NUMBER_TEXT_MAX];
    bool by_rate = lock->by == CAPACITY_BY_RATE;
    /* Without an upper end it is at least so much: what is sure. */
    snprintf(row.carries, sizeof row.carries, "%s",
             lock->answered && isnan(lock->high) ? ">= " : "");
    load_text(!lock->answered     ? NAN
              : isnan(lock->high) ? lock->low
                                  : lock->value,
              by_rate, row.carries + strlen(row.carries));
    load_text(lock->low, false, low);
    load_text(lock->high, false, high);
    snprintf(row.interval, sizeof row.interval, lock->answered ? "%.24s .. %.24s" : NUMBER_NONE,
             low, high);
    load_text(lock->modelled ? lock->capacity_per_s : NAN, true, row.model);
    snprintf(row.predicted, sizeof row.predicted, "%s",
             isnan(lock->wait_predicted_ns) ? NUMBER_NONE
                                            : number_time_text(lock->wait_predicted_ns, number));
    snprintf(row.measured, sizeof row.measured, "%s",
             isnan(lock->wait_measured_ns) ? NUMBER_NONE
                                           : number_time_text(lock->wait_measured_ns, number));
    return row;
}

static bool any_model(const struct capacity *capacity) {
    for (int i = 0; i < capacity->lock_count; i++) {
        if (capacity->locks[i].modelled) return true;
    }
    return false;
}

static void put_row(const struct screen *screen, const char *name, const struct row *row,
                    bool models, enum tone tone) {
    screen_put(screen, name, -24, TONE_PLAIN);
    screen_put(screen, row->carries, 12, tone);
    screen_put(screen, row->interval, 17, TONE_PLAIN);
    fputs("  ", screen->out);
    screen_put(screen, row->limit, -11, TONE_PLAIN);
    if (models) {
        screen_put(screen, row->model, 13, TONE_PLAIN);
        screen_put(screen, row->predicted, 10, TONE_PLAIN);
        screen_put(screen, row->measured, 10, TONE_PLAIN);
    }
    fputc('\n', screen->out);
}

/* What all locks of the file were asked. */
static void put_question(const struct screen *screen, const struct capacity_lock *lock) {
    char hold[80] = "";
    if (lock->hold) snprintf(hold, sizeof hold, ", hold %.60s", lock->hold);
    if (lock->by == CAPACITY_BY_RATE) {
        screen_say(
            screen, 2, TONE_PLAIN,
            "The greatest rate of requests at random (Poisson) that keeps %s: keys %s%s, a pool of "
            "%.0f clients.",
            or_dash(lock->slo), or_dash(lock->keys), hold, lock->clients);
    } else {
        screen_say(screen, 2, TONE_PLAIN,
                   "The most clients in a closed loop that keep %s: keys %s%s, think %s.",
                   or_dash(lock->slo), or_dash(lock->keys), hold, or_dash(lock->think));
    }
}

void capacity_show_table(const struct capacity *capacity, bool color, FILE *out) {
    struct screen screen = {.out = out, .color = color};
    bool models = any_model(capacity);
    if (capacity->partial)
        screen_say(&screen, 2, TONE_WARN, "PARTIAL: %s", or_dash(capacity->partial_reason));
    if (capacity->lock_count == 0) return;
    put_question(&screen, &capacity->locks[0]);
    const struct row head = {.carries = "carries",
                             .interval = "95 % interval",
                             .limit = "limited by",
                             .model = "1/(hold+h.)",
                             .predicted = "M/D/1",
                             .measured = "measured"};
    fputc('\n', out);
    put_row(&screen, "lock", &head, models, TONE_PLAIN);
    for (int i = 0; i < capacity->lock_count; i++) {
        const struct capacity_lock *lock = &capacity->locks[i];
        struct row row = row_of(lock);
        bool good =
            lock->limited_by == CAPACITY_LIMIT_SLO || lock->limited_by == CAPACITY_LIMIT_RANGE;
        put_row(&screen, lock->lock, &row, models,
                lock->violated ? TONE_BAD
                : good         ? TONE_PLAIN
                               : TONE_WARN);
        screen_say(&screen, 4, TONE_PLAIN, "    %s; %s; %s; topology %s; %d probes",
                   words_guarantee_text(lock->guarantee), or_dash(lock->durability),
                   or_dash(lock->server), or_dash(lock->topology), lock->probe_count);
        if (lock->violated) screen_say(&screen, 4, TONE_BAD, "    " VIOLATED_WORDS);
        if (lock->why) screen_say(&screen, 4, TONE_WARN, "    %s", lock->why);
    }
    if (models) {
        screen_say(
            &screen, 2, TONE_PLAIN,
            "1/(hold+h.): grants of one key if each waits for a handoff, with hold and handoff as measured "
            "around the answer; one that nobody waited for may cost less. M/D/1: the mean wait that theory "
            "expects of a fair queue at the greatest rate below the answer that was probed; "
            "measured: the mean wait there, from due to granted.");
    }
}

static void put_cell(FILE *out, const char *text) {
    fputc(' ', out);
    escape_md(out, text);
    fputs(" |", out);
}

void capacity_show_md(const struct capacity *capacity, FILE *out) {
    if (capacity->partial) {
        fputs("**Partial**: ", out);
        escape_md(out, or_dash(capacity->partial_reason));
        fputs("\n\n", out);
    }
    fputs(
        "| lock | promise | by | carries | 95 % interval | limited by | 1/(hold+handoff) | M/D/1 wait | "
        "measured | "
        "guarantee | durability | topology | why |\n|---|---|---|--:|--:|---|--:|--:|--:|---|---|---|---|\n",
        out);
    for (int i = 0; i < capacity->lock_count; i++) {
        const struct capacity_lock *lock = &capacity->locks[i];
        struct row row = row_of(lock);
        const char *cells[] = {lock->lock,
                               or_dash(lock->slo),
                               or_dash(lock->by_word),
                               row.carries,
                               row.interval,
                               row.limit,
                               row.model,
                               row.predicted,
                               row.measured,
                               words_guarantee_text(lock->guarantee),
                               or_dash(lock->durability),
                               or_dash(lock->topology),
                               lock->violated ? VIOLATED_WORDS
                               : lock->why    ? lock->why
                                              : ""};
        fputc('|', out);
        for (size_t c = 0; c < sizeof cells / sizeof *cells; c++) put_cell(out, cells[c]);
        fputc('\n', out);
    }
}
