/* run_experiments: starts the fake server and the program, reads the result, and compares. See
 * answers.h. */
#define _GNU_SOURCE
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/clock.h"
#include "bench/base/home.h"
#include "bench/tests/answers/answers.h"
#include "bench/tests/answers/program.h"

#define STOLEN_MAX 0.02 /* of the processors' time */

static const char *const backends[FAKE_PROTOCOLS] = {
    [FAKE_RESP] = "redis", [FAKE_MEMCACHED] = "memcached", [FAKE_NATS] = "nats"};

static bool is_sim(const struct experiment *experiment) {
    return strcmp(experiment->lock, "sim") == 0;
}

static void make_arguments(struct program_arguments *arguments, const struct answers_how *how,
                           const struct trial *trial, const char *workload) {
    const struct experiment *experiment = trial->experiment;
    const char *backend = backends[experiment->script.protocol];
    program_add(arguments, "lockbench");
    program_add(arguments, "run");
    program_add(arguments, "%s", workload);
    program_add(arguments, "--lock=%s", experiment->lock);
    program_add(arguments, "--out=%s", trial->out);
    if (!is_sim(experiment))
        program_add(arguments, "--url=%s=%s://127.0.0.1:%d", backend, backend, trial->fake.port);
    double seconds = how->brief ? experiment->brief_seconds : experiment->seconds;
    program_add(arguments, "--set=run.duration=%.0fms", seconds * 1000);
    program_add(arguments, "--set=load.hold=%lldns", (long long)experiment->hold_ns);
    for (int i = 0; i < EXPERIMENT_SETTINGS_MAX && experiment->settings[i]; i++)
        program_add(arguments, "--set=%s", experiment->settings[i]);
}

/* Stops the program for a while, counted from the first acquire that the server got. */
static void stand_still(const struct experiment *experiment, const struct fake_log *log,
                        pid_t pid) {
    int64_t first_ns = 0, until_ns = lb_now() + 10 * LB_S_NS;
    for (size_t i = 0; first_ns == 0 && lb_now() < until_ns;) {
        if (i == atomic_load(&log->count))
            lb_nap(LB_MS_NS);
        else if (log->record[i++].kind == FAKE_ACQUIRE)
            first_ns = log->record[i - 1].received_ns;
    }
    if (first_ns == 0) return;
    while (lb_now() < first_ns + experiment->stop_after_ns) lb_nap(LB_MS_NS);
    kill(pid, SIGSTOP);
    int64_t stopped_ns = lb_now();
    while (lb_now() < stopped_ns + experiment->stop_ns) lb_nap(LB_MS_NS);
    kill(pid, SIGCONT);
}

int trial_start(struct trial *trial, const struct answers_how *how,
                const struct experiment *experiment, int number, struct lb_err *err) {
    struct program_arguments arguments = {.count = 0};
    char workload[500], output[420];
    *trial = (struct trial){.experiment = experiment, .script = experiment->script};
    trial->script.seed += (uint64_t)number;
    if (home_path("bench/tests/answers/answers.ini", workload, sizeof workload, err) != 0)
        return -1;
    snprintf(trial->out, sizeof trial->out, "%s/%s.%d", how->folder, experiment->name, number);
    snprintf(output, sizeof output, "%s.txt", trial->out);
    if (!is_sim(experiment) && fake_start(&trial->fake, &trial->script, err) != 0) return -1;
    make_arguments(&arguments, how, trial, workload);
    arguments.is_urgent = !experiment->polls;
    trial->pid = program_start(how->program, &arguments, output);
    return trial->pid > 0 ? 0 : err_set(err, LB_EXIT_MACHINE, "no process for %s", how->program);
}

int trial_finish(struct trial *trial, struct seen *ret_seen, struct lb_err *err) {
    const struct experiment *experiment = trial->experiment;
    struct seen seen = {.experiment = experiment, .log = trial->fake.log};
    if (experiment->stop_ns > 0 && seen.log) stand_still(experiment, seen.log, trial->pid);
    seen.exit_code = program_wait(trial->pid);
    fake_stop(&trial->fake);
    seen.run = run_read(trial->out, err);
    if (!seen.run) return -1;
    if (seen.run->stage_count == 0) {
        run_free(seen.run);
        return err_set(err, LB_EXIT_MACHINE, "no stage; see %s.txt", trial->out);
    }
    seen.stage = &seen.run->stages[0];
    *ret_seen = seen;
    return 0;
}

void trial_free(struct trial *trial, struct seen *seen) {
    fake_free(&trial->fake);
    if (seen) run_free(seen->run);
}

double answers_figure(const struct seen *seen, const char *path) {
    if (strcmp(path, "exit") == 0) return seen->exit_code;
    for (const struct result_field *field = run_stage_fields(); field->path; field++) {
        if (strcmp(field->path, path) == 0 && result_field_is_figure(field))
            return result_field_figure(field, seen->stage);
    }
    return NAN;
}

/* Writes the text of a stage by its path, "null" for none. */
static void text_at(const struct seen *seen, const char *path, char *ret_text, size_t size) {
    const char *text = NULL;
    for (const struct result_field *field = run_stage_fields(); field->path; field++) {
        if (strcmp(field->path, path) == 0 && field->kind == RESULT_TEXT)
            text = result_field_text(field, seen->stage);
    }
    snprintf(ret_text, size, "%s", text ? text : "null");
}

static double allowed_of(const struct answers_how *how, const struct answer *answer) {
    return how->brief ? answer->brief_allowed : answer->allowed;
}

static void judge_row(const struct answers_how *how, const struct seen *seen,
                      struct verdict_row *row) {
    const struct answer *answer = row->answer;
    row->is_missing = false;
    row->repeats++;
    if (answer->word) {
        char text[sizeof row->said_word];
        text_at(seen, answer->path, text, sizeof text);
        bool is_hit = strcmp(text, answer->word) == 0;
        row->hits += is_hit;
        if (!is_hit || row->hits == 1) memcpy(row->said_word, text, sizeof text);
        row->is_ok = row->hits == row->repeats;
        return;
    }
    row->truth = answer->truth ? answer->truth(seen, answer->argument) : answer->argument;
    if (answer->endless) row->endless = answer->endless(seen, answer->argument);
    row->said =
        answer->said ? answer->said(seen, answer->argument) : answers_figure(seen, answer->path);
    row->is_ok = fabs(row->said - row->truth) <= allowed_of(how, answer) * fabs(row->truth);
}

/* Whether the host of this virtual machine took so much of it that any lock would look bad: one of
 * several repeats is then left out. */
static bool is_spoilt(const struct seen *seen, int repeats) {
    return repeats > 1 && answers_figure(seen, "executor.stolen_share") > STOLEN_MAX;
}

static bool is_wanted(const struct answers_how *how, const struct answer *answer) {
    if (how->brief && answer->brief_allowed == 0) return false;
    return !how->only || strstr(answer->experiment->name, how->only);
}

static void run_study(const struct answers_how *how, struct verdict_row *row) {
    const struct answer *answer = row->answer;
    row->truth = answer->argument;
    row->said = answer->study(how, answer->experiment);
    row->is_missing = isnan(row->said);
    row->is_ok = answer->is_least ? row->said >= row->truth : row->said <= row->truth;
}

static void run_experiment(const struct answers_how *how, const struct experiment *experiment,
                           struct verdict_row *rows, int count) {
    int repeats = experiment->repeats > 0 && !how->brief ? experiment->repeats : 1;
    for (int repeat = 0; repeat < repeats; repeat++) {
        struct trial trial;
        struct seen seen = {.run = NULL};
        struct lb_err err = {0};
        if (trial_start(&trial, how, experiment, repeat, &err) != 0 ||
            trial_finish(&trial, &seen, &err) != 0)
            fprintf(stderr, "answers: %s: %s\n", experiment->name, err.text);
        bool is_judged = seen.run && !is_spoilt(&seen, repeats);
        for (int i = 0; is_judged && i < count; i++) {
            if (rows[i].answer->experiment == experiment) judge_row(how, &seen, &rows[i]);
        }
        trial_free(&trial, &seen);
    }
}

int answers_run(const struct answers_how *how, struct verdict_row **ret_rows, struct lb_err *err) {
    int count = 0, all = 0;
    while (answers[all].name) all++;
    struct verdict_row *rows = calloc((size_t)all + 1, sizeof *rows);
    if (!rows) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    for (int i = 0; i < all; i++) {
        if (!is_wanted(how, &answers[i])) continue;
        rows[count].is_missing = true;
        rows[count].endless = NAN;
        rows[count++].answer = &answers[i];
    }
    for (int i = 0; i < count; i++) {
        bool is_first = true;
        for (int j = 0; j < i; j++)
            is_first &= rows[j].answer->experiment != rows[i].answer->experiment;
        if (rows[i].answer->study)
            run_study(how, &rows[i]);
        else if (is_first)
            run_experiment(how, rows[i].answer->experiment, rows, count);
    }
    *ret_rows = rows;
    return count;
}
