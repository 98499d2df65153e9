/* planner_out: a planner's answers as a table, Markdown and JSON. See planner.h. */
#include <jansson.h>
#include <math.h>

#include "report/doc/escape.h"
#include "report/doc/number.h"
#include "report/doc/screen.h"
#include "report/planner/planner.h"

#define TIGHT 1.2 /* margins below are called so */

static enum tone tone_of(const struct planner_answer *answer) {
    static const enum tone tones[] = {TONE_GOOD, TONE_WARN, TONE_WARN, TONE_BAD};
    return answer->verdict == PLANNER_CARRIES && answer->margin < TIGHT ? TONE_WARN
                                                                        : tones[answer->verdict];
}

/* "carries 2.3x", "carries 1.1x, tight", "too much", with what it stands on where that is the
 * model. */
static char *verdict_text(const struct planner_answer *answer, char *text, size_t size) {
    char margin[40] = "";
    if (answer->verdict == PLANNER_CARRIES)
        snprintf(margin, sizeof margin, " %.2gx%s", answer->margin,
                 answer->margin < TIGHT ? ", tight" : "");
    if (answer->verdict == PLANNER_TOO_MUCH && !isnan(answer->margin))
        snprintf(margin, sizeof margin, ", at most %.2gx", answer->margin);
    snprintf(text, size, "%s%s%s", planner_word(answer->verdict), margin,
             answer->model && answer->verdict != PLANNER_UNKNOWN ? " (model)" : "");
    return text;
}

static const char *or_unknown(const char *text) {
    return text ? text : "not stated";
}

static const char *impossible_text(const struct planner_ask *ask, char *text, size_t size) {
    snprintf(
        text, size,
        "No mutex can: %.3g/s on %.0f key%s, each held for %.3g ms, hold %s for %.3g %% of the time.",
        ask->rate, ask->keys, ask->keys == 1 ? "" : "s", ask->hold_ns / 1e6,
        ask->keys == 1 ? "it" : "each", ask->rate * ask->hold_ns / 1e7 / ask->keys);
    return text;
}

/* "acquire_due.p99<=20ms: 390/s (360 .. 425), hold 1ms, 1 keys, 64 clients; redis 7.0.15;
 * results/... 2026-..." */
static char *evidence_text(const struct planner_answer *answer, char *text, size_t size) {
    const struct capacity_lock *lock = answer->lock;
    char value[NUMBER_TEXT_MAX], low[NUMBER_TEXT_MAX], high[NUMBER_TEXT_MAX], found[200];
    const char *unit = lock->by == CAPACITY_BY_RATE ? "/s" : " clients";
    snprintf(found, sizeof found, "%s%s (%s .. %s)", number_text(lock->value, &number_plain, value),
             unit, number_text(lock->low, &number_plain, low),
             number_text(lock->high, &number_plain, high));
    snprintf(text, size, "%s for %s, hold %s, keys %s, %.0f clients; %s; %s of %s",
             lock->answered ? found : "no answer", or_unknown(lock->slo), or_unknown(lock->hold),
             or_unknown(lock->keys), lock->clients, or_unknown(lock->server), answer->from->dir,
             or_unknown(answer->from->started_at));
    return text;
}

int planner_write_table(const struct planner *planner, bool color, FILE *out) {
    const struct screen screen = {.out = out, .color = color};
    char text[600];
    screen_say(&screen, 0, TONE_BEST, "%s", planner_ask_text(&planner->ask, text, sizeof text));
    if (planner->impossible)
        screen_say(&screen, 0, TONE_BAD, "%s", impossible_text(&planner->ask, text, sizeof text));
    fputc('\n', out);
    for (int i = 0; i < planner->count; i++) {
        const struct planner_answer *answer = &planner->answers[i];
        const struct capacity_lock *lock = answer->lock;
        screen_put(&screen, lock->lock, -22, TONE_PLAIN);
        screen_put(&screen, verdict_text(answer, text, sizeof text), -32, tone_of(answer));
        snprintf(text, sizeof text, "%s; %s; %s", or_unknown(lock->guarantee),
                 or_unknown(lock->topology), or_unknown(lock->durability));
        screen_wrap(&screen, text, 54, 54, TONE_PLAIN);
        screen_say(&screen, 2, TONE_PLAIN, "  %s", answer->why ? answer->why : "");
        screen_say(&screen, 2, TONE_PLAIN, "  measured: %s",
                   evidence_text(answer, text, sizeof text));
        /* In one piece, to be copied. */
        if (answer->settle) fprintf(out, "  would settle it: %s\n", answer->settle);
    }
    fputc('\n', out);
    if (planner->unsafe > 0)
        screen_say(&screen, 0, TONE_PLAIN, "Left out: %d lock%s broken on purpose.",
                   planner->unsafe, planner->unsafe == 1 ? "" : "s");
    screen_say(
        &screen, 0, TONE_PLAIN,
        "In order of fitness: what carries the load, then the stronger guarantee, the more durable, "
        "the greater "
        "margin; not by speed. A margin is the load that keeps the promise for certain over the one "
        "asked for.");
    return 0;
}

int planner_write_md(const struct planner *planner, FILE *out) {
    char text[600];
    fputs("**", out);
    escape_md(out, planner_ask_text(&planner->ask, text, sizeof text));
    fputs("**\n\n", out);
    if (planner->impossible)
        fprintf(out, "%s\n\n", impossible_text(&planner->ask, text, sizeof text));
    fputs(
        "| lock | verdict | guarantee | topology, durability | why | measured |\n|---|---|---|---|---|---|\n",
        out);
    for (int i = 0; i < planner->count; i++) {
        const struct planner_answer *answer = &planner->answers[i];
        const struct capacity_lock *lock = answer->lock;
        fputs("| ", out);
        escape_md(out, lock->lock);
        fprintf(out, " | %s | ", verdict_text(answer, text, sizeof text));
        escape_md(out, or_unknown(lock->guarantee));
        fputs(" | ", out);
        escape_md(out, or_unknown(lock->topology));
        fputs(", ", out);
        escape_md(out, or_unknown(lock->durability));
        fputs(" | ", out);
        escape_md(out, answer->why ? answer->why : "");
        if (answer->settle) {
            fputs("; would settle it: ", out);
            escape_md(out, answer->settle);
        }
        fputs(" | ", out);
        escape_md(out, evidence_text(answer, text, sizeof text));
        fputs(" |\n", out);
    }
    if (planner->unsafe > 0)
        fprintf(out, "\nLeft out: %d locks broken on purpose.\n", planner->unsafe);
    fputs(
        "\nIn order of fitness, not by speed: what carries the load, then guarantee, durability, margin.\n",
        out);
    return 0;
}

static json_t *answer_json(const struct planner_answer *answer) {
    const struct capacity_lock *lock = answer->lock;
    json_t *json = json_pack(
        "{s:s, s:o, s:o, s:o, s:s, s:b, s:o, s:o, s:o, s:o, s:o}", "lock", lock->lock, "guarantee",
        escape_json(lock->guarantee), "topology", escape_json(lock->topology), "durability",
        escape_json(lock->durability), "verdict", planner_word(answer->verdict), "model",
        (int)answer->model, "carries", escape_json_figure(answer->carries), "breaks",
        escape_json_figure(answer->breaks), "margin", escape_json_figure(answer->margin), "why",
        escape_json(answer->why), "settle", escape_json(answer->settle));
    json_t *from = json_pack(
        "{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "path", answer->from->path, "started_at",
        escape_json(answer->from->started_at), "slo", escape_json(lock->slo), "hold",
        escape_json(lock->hold), "keys", escape_json(lock->keys), "clients",
        escape_json_figure(lock->clients), "value", escape_json_figure(lock->value), "low",
        escape_json_figure(lock->low), "high", escape_json_figure(lock->high));
    if (json && from) json_object_set(json, "from", from);
    json_decref(from);
    return json;
}

int planner_write_json(const struct planner *planner, FILE *out) {
    const struct planner_ask *ask = &planner->ask;
    json_t *answers = json_array();
    for (int i = 0; i < planner->count; i++)
        json_array_append_new(answers, answer_json(&planner->answers[i]));
    json_t *json = json_pack(
        "{s:s, s:i, s:{s:o, s:o, s:o, s:o, s:s}, s:b, s:i, s:o}", "schema", "lockbench.plan/1",
        "exit_code", planner_exit(planner), "ask", "rate_per_s", escape_json_figure(ask->rate),
        "clients", escape_json_figure(ask->clients), "hold_ns", escape_json_figure(ask->hold_ns),
        "keys", escape_json_figure(ask->keys), "slo", ask->slo, "impossible",
        (int)planner->impossible, "left_out", planner->unsafe, "answers", answers);
    int failed = json ? json_dumpf(json, out, JSON_INDENT(1)) : -1;
    fputc('\n', out);
    json_decref(json);
    return failed;
}
