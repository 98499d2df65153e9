/* repeat: see repeat.h. */
#include "bench/cli/repeat.h"

#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/base/clock.h"
#include "bench/base/err.h"
#include "bench/base/text.h"
#include "bench/check/jobs.h"
#include "bench/cli/terminal.h"
#include "bench/run/outdir.h"
#include "report/compare/compare.h"

/* ---- whole runs in turns ----
 *
 * Whole runs of this program, or of two builds of it, one after the other, each a process with servers of its own. Two
 * sides alternate A B B A A B B A ..., so that a drift of the machine affects both alike. */

struct alternate_side {
    /* "base", "new": also the name of its folder; "" = its runs are in the result's own folder */
    const char *name;
    const char *program;     /* NULL = this one */
    const char *const *argv; /* "run", ...; --out is appended; ends with NULL */
    /* how long a run takes by its plan; 0 = not known, so there is no time limit */
    int64_t planned_ns;
};

struct alternate_news {
    const struct alternate_side *side;
    int number;    /* number of the run on its side, from 0 */
    int done, all; /* number of runs of both sides */
    /* true: the run begins; false: it has ended, and the members below describe its end */
    bool begins;
    int exit_code;     /* of the child process */
    const char *saved; /* its folder; NULL = the run left no result */
    const char *why;   /* why the exit code is not 0; "" = it is 0 */
    int64_t took_ns;   /* how long this run took */
    /* the time that all further runs will take, estimated from those so far; 0 = there is no
     * estimate */
    int64_t left_ns;
};

struct alternate_ask {
    const char *folder;                /* the folder of the result, which exists */
    const struct alternate_side *side; /* one side, or the base and the new side */
    int side_count, repeat;
    const volatile sig_atomic_t *interrupts;
    void (*news)(void *arg, const struct alternate_news *news); /* never NULL */
    /* Called once, when each side has a first result: -1 with err ends it all. May be NULL. */
    int (*check)(void *arg, struct lb_err *err);
    void *arg;
};

struct alternate_end {
    int saved[2];     /* runs of each side that left a result with a stage, whole or partial */
    bool interrupted; /* the user interrupted, and the last run may be partial */
    /* of each side, the gravest exit code of the children that were not interrupted:
     * LB_EXIT_VIOLATED, then _MACHINE, _USAGE, then those of the child's own promises: _REGRESSION,
     * _INCONCLUSIVE */
    int exit_code[2];
    bool failed; /* a run failed, whatever the others found */
};

#define ARGS_MAX 400
#define WAIT_NS (200 * LB_MS_NS) /* the pause between two checks for Ctrl-C */
/* The time limit of a run: a fixed time for starting servers and so on, and a multiple of the planned load, because
 * a busy machine may be slower. */
#define START_NS (60 * LB_S_NS)
#define TIMES 3

struct alternate {
    const struct alternate_ask *ask;
    struct alternate_end *end;
    struct jobs jobs[2];
    int64_t took_ns[2]; /* the sum over all ended runs of the side */
    int ended[2], done;
};

/* The side of the i-th run, from 0. */
static int side_of(int i, int side_count) {
    return side_count < 2 ? 0 : (i ^ i / 2) & 1;
}

/* folder/base/03. */
static int run_folder(const struct alternate *alternate, const struct alternate_side *side,
                      int number, char *path, size_t size, struct lb_err *err) {
    char parent[600];
    const char *slash = *side->name ? "/" : "";
    snprintf(parent, sizeof parent, "%s%s%s", alternate->ask->folder, slash, side->name);
    if (jobs_make_folder(parent, err) != 0) return -1;
    int used =
        snprintf(path, size, "%s/%0*d", parent, alternate->ask->repeat > 100 ? 3 : 2, number);
    if (used < 0 || (size_t)used >= size)
        return err_set(err, LB_EXIT_USAGE, "%s: the path is too long", parent);
    if (mkdir(path, 0777) == 0) return 0;
    if (errno != EEXIST)
        return err_set(err, LB_EXIT_MACHINE, "cannot make %s: %s", path, strerror(errno));
    /* An older run in this folder would be taken for one of this result. */
    return err_set(err, LB_EXIT_USAGE, "--out %s: there are runs already; name a new folder",
                   alternate->ask->folder);
}

static int64_t limit_of(const struct alternate_side *side) {
    return side->planned_ns > 0 ? START_NS + TIMES * side->planned_ns : LB_NEVER;
}

/* The time of all further runs, if each takes as long as the earlier ones of its side. */
static int64_t left_ns(const struct alternate *alternate) {
    int64_t left = 0;
    for (int s = 0; s < alternate->ask->side_count; s++) {
        if (alternate->ended[s] == 0) return 0;
        left += alternate->took_ns[s] / alternate->ended[s] *
                (alternate->ask->repeat - alternate->ended[s]);
    }
    return left;
}

static void tell(const struct alternate *alternate, int s, bool begins, const struct job_end *end,
                 const char *saved, const char *why) {
    const struct alternate_ask *ask = alternate->ask;
    struct alternate_news news = {.side = &ask->side[s],
                                  .number = alternate->ended[s] - !begins,
                                  .done = alternate->done,
                                  .all = ask->repeat * ask->side_count,
                                  .begins = begins,
                                  .exit_code = end ? end->exit_code : 0,
                                  .saved = saved,
                                  .why = why,
                                  .took_ns = end ? end->took_ns : 0,
                                  .left_ns = left_ns(alternate)};
    ask->news(ask->arg, &news);
}

/* Waits for the child; passes an interrupt on, once. */
static void wait_for_child(struct alternate *alternate, struct jobs *jobs,
                           struct job_end *ret_end) {
    while (!jobs_wait(jobs, WAIT_NS, ret_end)) {
        if (*alternate->ask->interrupts == 0 || alternate->end->interrupted) continue;
        alternate->end->interrupted = true;
        jobs_interrupt(jobs);
    }
}

/* The rank of a child's exit code; a graver code has a higher rank. */
static int gravity(int code) {
    static const int order[] = {LB_EXIT_OK,    LB_EXIT_INCONCLUSIVE, LB_EXIT_REGRESSION,
                                LB_EXIT_USAGE, LB_EXIT_MACHINE,      LB_EXIT_VIOLATED};
    int at = 0;
    while (order[at] != code) at++;
    return at;
}

/* Whether a run left a result. A result without a stage would prevent the comparison of the others, so its run.json is
 * removed; its log stays. */
static bool keep_result(const char *path) {
    json_t *run = json_load_file(path, 0, NULL);
    const json_t *stages = json_object_get(run, "stages");
    bool empty = json_is_array(stages) && json_array_size(stages) == 0;
    json_decref(run);
    if (empty) unlink(path);
    return !empty && access(path, F_OK) == 0;
}

/* Called when the child has ended: reads its result, and decides how the alternation goes on. */
static int take_run(struct alternate *alternate, int s, const struct job_end *end,
                    const char *folder, struct lb_err *err) {
    char result[720], log[720], why[400] = "";
    snprintf(result, sizeof result, "%s/run.json", folder);
    snprintf(log, sizeof log, "%s/log", folder);
    bool saved = keep_result(result);
    if (end->exit_code != LB_EXIT_OK) jobs_last_words(log, why, sizeof why);
    if (end->timed_out)
        snprintf(why, sizeof why, "it was not done after %.0f s", (double)end->took_ns / 1e9);
    alternate->end->interrupted |= *alternate->ask->interrupts > 0;
    alternate->end->saved[s] += saved;
    alternate->took_ns[s] += end->took_ns;
    alternate->ended[s]++;
    alternate->done++;
    if (!alternate->end->interrupted) {
        bool known =
            end->exit_code >= 0 && end->exit_code <= LB_EXIT_INCONCLUSIVE && !end->timed_out;
        int code = known ? end->exit_code : LB_EXIT_MACHINE;
        int *gravest = &alternate->end->exit_code[s];
        if (gravity(code) > gravity(*gravest)) *gravest = code;
        alternate->end->failed |= code == LB_EXIT_USAGE || code == LB_EXIT_MACHINE;
    }
    tell(alternate, s, false, end, saved ? folder : NULL, why);
    if (saved || alternate->end->interrupted) return 0;
    const char *name = alternate->ask->side[s].name;
    int code = end->exit_code == LB_EXIT_USAGE ? LB_EXIT_USAGE : LB_EXIT_MACHINE;
    return err_set(err, code, "%s%srun %d left no result: %.300s (its output: %s)", name,
                   *name ? " " : "", alternate->ended[s] - 1, *why ? why : "it said nothing", log);
}

static int run_one(struct alternate *alternate, int s, struct lb_err *err) {
    const struct alternate_side *side = &alternate->ask->side[s];
    char folder[680], log[720];
    const char *argv[ARGS_MAX];
    int count = 0;
    if (run_folder(alternate, side, alternate->ended[s], folder, sizeof folder, err) != 0)
        return -1;
    snprintf(log, sizeof log, "%s/log", folder);
    while (count < ARGS_MAX - 3 && side->argv[count]) {
        argv[count] = side->argv[count];
        count++;
    }
    argv[count++] = "--out";
    argv[count++] = folder;
    argv[count] = NULL;
    struct job job = {.argv = argv, .log = log, .weight = 1, .limit_ns = limit_of(side)};
    struct job_end end;
    tell(alternate, s, true, NULL, NULL, "");
    if (jobs_start(&alternate->jobs[s], &job, err) != 0) return -1;
    wait_for_child(alternate, &alternate->jobs[s], &end);
    return take_run(alternate, s, &end, folder, err);
}

/* Returns 0 when all ran or the user interrupted; -1 with err when a run left no result, since
 * further ones would not leave one either, or when check returned -1. *ret_end is filled in any
 * case. No child process is left. */
static int alternate_run(const struct alternate_ask *ask, struct alternate_end *ret_end,
                         struct lb_err *err) {
    struct alternate alternate = {.ask = ask, .end = ret_end};
    *ret_end = (struct alternate_end){0};
    for (int s = 0; s < ask->side_count; s++)
        jobs_init(&alternate.jobs[s], ask->side[s].program, 1);
    for (int i = 0; i < ask->repeat * ask->side_count && !ret_end->interrupted; i++) {
        if (run_one(&alternate, side_of(i, ask->side_count), err) != 0) return -1;
        bool each = alternate.done == ask->side_count && !ret_end->interrupted;
        if (each && ask->check && ask->check(ask->arg, err) != 0) return -1;
    }
    return 0;
}

#define BASE 0
#define NEW 1

bool repeat_has_base(const struct repeat_wish *wish) {
    return wish->against || wish->lock || wish->sets.count > 0;
}

bool repeat_is_asked(const struct repeat_wish *wish) {
    return wish->times > 0 || repeat_has_base(wish);
}

int repeat_times(const struct repeat_wish *wish) {
    return wish->times > 0 ? wish->times : REPEAT_USUAL;
}

static bool is_program(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

static bool is_workload_file(const char *name) {
    size_t length = strlen(name);
    return length > 4 && strcmp(name + length - 4, ".ini") == 0;
}

int repeat_base(const struct repeat_wish *wish, const char *workload, const char **ret_workload,
                const char **ret_program, struct lb_err *err) {
    const char *against = wish->against;
    *ret_workload = workload;
    *ret_program = NULL;
    if (!against) return 0;
    if (is_workload_file(against)) {
        *ret_workload = against;
    } else if (is_program(against)) {
        *ret_program = against;
    } else if (strchr(against, '/')) {
        return err_set(
            err, LB_EXIT_USAGE,
            "run: --against %.200s: neither a workload file (its name ends in .ini) nor a program "
            "that may be run",
            against);
    } else {
        *ret_workload = against; /* the name of a workload: plan_load checks it */
    }
    return 0;
}

/* ---- the command lines ---- */

struct words {
    const char *item[REPEAT_WORDS_MAX + 1];
    int count;
};

static int add_word(struct words *words, const char *option, const char *value,
                    struct lb_err *err) {
    if (words->count + 2 > REPEAT_WORDS_MAX)
        return err_set(err, LB_EXIT_USAGE,
                       "run: too many --set, --against-set, --slo and --url for one command line");
    if (option) words->item[words->count++] = option;
    words->item[words->count++] = value;
    return 0;
}

static int make_words(const struct repeat_ask *ask, int side, const char *workload,
                      const char *program, struct words *words, struct lb_err *err) {
    const char *locks = side == BASE && ask->wish->lock ? ask->wish->lock : ask->locks;
    *words = (struct words){0};
    int failed = add_word(words, "run", workload, err);
    if (locks) failed |= add_word(words, "--lock", locks, err);
    /* Another build may be an older one, so it gets only the options that --against gives. */
    if (!program) failed |= add_word(words, NULL, "--no-page", err);
    for (int i = 0; i < ask->url_count; i++) failed |= add_word(words, "--url", ask->urls[i], err);
    for (int i = 0; i < ask->set_count; i++) failed |= add_word(words, "--set", ask->sets[i], err);
    for (int i = 0; side == NEW && i < ask->promise_count; i++)
        failed |= add_word(words, "--slo", ask->promises[i], err);
    for (int i = 0; side == BASE && i < ask->wish->sets.count; i++) {
        failed |= add_word(words, "--set", ask->wish->sets.item[i], err); /* the last --set wins */
    }
    return failed ? -1 : 0;
}

/* ---- progress ---- */

struct show {
    const struct repeat_ask *ask;
    bool terminal;
    const char *folder;
};

static void show_left(const struct alternate_news *news) {
    double left_s = (double)news->left_ns / 1e9;
    if (news->left_ns == 0) return;
    if (left_s < 90) {
        fprintf(stderr, ", about %.0f s left", left_s);
    } else {
        fprintf(stderr, ", about %.0f min left", left_s / 60);
    }
}

static void show_news(void *arg, const struct alternate_news *news) {
    const struct show *show = arg;
    const char *name = news->side->name;
    if (news->begins && !show->terminal) return;
    fprintf(stderr, "%s%d of %d: %s%srun %d", show->terminal ? "\r\033[K" : "",
            news->done + news->begins, news->all, name, *name ? " " : "", news->number);
    if (news->begins) {
        show_left(news);
        fflush(stderr);
        return;
    }
    fprintf(stderr, ", %.1f s%s%s\n", (double)news->took_ns / 1e9, *news->why ? ": " : "",
            news->why);
}

/* ---- the comparison ---- */

static struct compare *compare_sides(const struct show *show, const char *partial_reason,
                                     struct lb_err *err) {
    const struct repeat_wish *wish = show->ask->wish;
    char base[700], new[700];
    snprintf(base, sizeof base, "%s/base", show->folder);
    snprintf(new, sizeof new, "%s/new", show->folder);
    const char *bases[] = {base}, *news[] = {new};
    struct compare_ask ask = {.base = bases,
                              .new = news,
                              .base_count = 1,
                              .new_count = 1,
                              .min_effect = COMPARE_MIN_EFFECT,
                              .metrics = wish->metrics,
                              .base_lock = wish->lock,
                              .new_lock = wish->lock ? show->ask->locks : NULL,
                              .partial_reason = partial_reason};
    return compare_make(&ask, err);
}

/* Called when each side has a run: ends the repetition early if the runs can't be compared. */
static int check_early(void *arg, struct lb_err *err) {
    struct compare *compare = compare_sides(arg, NULL, err);
    if (!compare) return -1;
    compare_free(compare);
    return 0;
}

static int save_comparison(const struct compare *compare, const char *folder, struct lb_err *err) {
    char path[700];
    snprintf(path, sizeof path, "%s/compare.json", folder);
    FILE *out = fopen(path, "we");
    if (!out) return err_set(err, LB_EXIT_MACHINE, "cannot write %s: %s", path, strerror(errno));
    int failed = compare_write(compare, COMPARE_JSON, false, out, err);
    if (fclose(out) != 0 && !failed)
        failed = err_set(err, LB_EXIT_MACHINE, "cannot write %s: %s", path, strerror(errno));
    return failed;
}

/* Prints and saves the comparison. Returns the exit code of `lockbench compare`, or -1 with err. */
static int conclude_repeats(const struct show *show, const struct alternate_end *end, int all,
                            struct lb_err *err) {
    char partial[100] = "";
    int done = end->saved[BASE] + end->saved[NEW];
    if (done < all || end->interrupted)
        snprintf(partial, sizeof partial, "%s after %d of %d runs",
                 end->interrupted ? "interrupted" : "ended", done, all);
    if (end->saved[BASE] == 0 || end->saved[NEW] == 0)
        return err_set(err, end->interrupted ? LB_EXIT_INTERRUPTED : LB_EXIT_MACHINE,
                       "%s: not yet a run of each side, so there is nothing to compare", partial);
    struct compare *compare = compare_sides(show, *partial ? partial : NULL, err);
    if (!compare) return -1;
    bool color = terminal_has_color(stdout);
    int code = compare_exit(compare);
    if (compare_write(compare, show->ask->json ? COMPARE_JSON : COMPARE_TABLE, color, stdout,
                      err) != 0 ||
        save_comparison(compare, show->folder, err) != 0)
        code = -1;
    compare_free(compare);
    return code;
}

/* Commands for the user to type. */
static void say_reports(const char *folder) {
    fputs("side by side: lockbench report ", stderr);
    shell_quote(stderr, folder);
    fputs("; against others: lockbench compare ", stderr);
    shell_quote(stderr, folder);
    fputs(" -- OTHERS\n", stderr);
}

static void say_compare(const struct show *show) {
    char metrics[COMPARE_METRICS_TEXT_MAX];
    const char *lock = show->ask->wish->lock;
    compare_metrics_text(show->ask->wish->metrics, metrics);
    fputs("; again, as Markdown: lockbench compare ", stderr);
    shell_quote(stderr, show->folder);
    fputs("/base -- ", stderr);
    shell_quote(stderr, show->folder);
    fputs("/new --md", stderr);
    if (lock) fprintf(stderr, " --lock %s=%s", lock, show->ask->locks);
    fprintf(stderr, "%s%s\n", *metrics ? " --metric " : "", metrics);
}

/* compared: the command that compares again would print the comparison again, and no error. */
static void say_where(const struct show *show, const struct alternate_end *end, bool compared) {
    int saved = end->saved[BASE];
    if (!repeat_has_base(show->ask->wish)) {
        fprintf(stderr, "%d run%s saved in %s; ", saved, saved == 1 ? "" : "s", show->folder);
        say_reports(show->folder);
        return;
    }
    fprintf(stderr, "saved in %s", show->folder);
    if (compared)
        say_compare(show);
    else
        fputc('\n', stderr);
}

/* The exit code of two sides: the finding of the comparison first, then the failure of a run, then
 * what the new runs found on their own: a promise that is broken, or not sure. */
static int exit_of(int compared, const struct alternate_end *end) {
    if (end->interrupted) return LB_EXIT_INTERRUPTED;
    if (compared != LB_EXIT_OK && compared != LB_EXIT_INCONCLUSIVE) return compared;
    if (end->failed) return LB_EXIT_MACHINE;
    return end->exit_code[NEW] ? end->exit_code[NEW] : compared;
}

int repeat_run(const struct repeat_ask *ask, struct lb_err *err) {
    const char *workload, *program;
    struct words base, new;
    struct outdir out;
    bool pair = repeat_has_base(ask->wish);
    if (ask->json && !pair)
        return err_set(
            err, LB_EXIT_USAGE,
            "run: --repeat with --json prints a comparison, and there is none without --against...: "
            "leave --json out; each run has a run.json");
    if (repeat_base(ask->wish, ask->workload, &workload, &program, err) != 0) return -1;
    if (make_words(ask, BASE, workload, program, &base, err) != 0) return -1;
    if (make_words(ask, NEW, ask->workload, NULL, &new, err) != 0) return -1;
    if (outdir_make(&out, ask->out, ask->results, "repeat", err) != 0) return -1;

    const struct alternate_side pairs[] = {{"base", program, base.item, ask->base_planned_ns},
                                           {"new", NULL, new.item, ask->planned_ns}},
                                alone = {"", NULL, new.item, ask->planned_ns};
    struct show show = {.ask = ask,
                        .terminal = isatty(STDERR_FILENO),
                        .folder = out.path};
    struct alternate_ask alternate = {.folder = out.path,
                                      .side = pair ? pairs : &alone,
                                      .side_count = pair ? 2 : 1,
                                      .repeat = repeat_times(ask->wish),
                                      .interrupts = interrupt_watch(true),
                                      .news = show_news,
                                      .check = pair ? check_early : NULL,
                                      .arg = &show};
    struct alternate_end end;
    if (ask->url_count > 0)
        fprintf(stderr, "lockbench: the servers at --url are not restarted between the runs\n");
    int failed = alternate_run(&alternate, &end, err);
    outdir_claimed(&out);
    if (failed && end.saved[BASE] + end.saved[NEW] == 0) return -1;
    struct lb_err uncompared = {0};
    int all = alternate.repeat * alternate.side_count;
    int code = pair ? conclude_repeats(&show, &end, all, &uncompared) : end.exit_code[0];
    if (end.saved[BASE] + end.saved[NEW] > 0) say_where(&show, &end, code >= 0);
    if (failed) return -1;
    if (code < 0 && end.interrupted) fprintf(stderr, "lockbench: %s\n", uncompared.text);
    if (code < 0 && !end.interrupted) {
        *err = uncompared;
        return -1;
    }
    return exit_of(code, &end);
}
