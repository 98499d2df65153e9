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
#include "bench/cli/page.h"
#include "bench/cli/terminal.h"
#include "bench/run/outdir.h"
#include "bench/servers/jobs.h"
#include "report/compare/compare.h"

/* runs of each side, if the user does not say: a small difference needs at least so many */
#define REPEAT_USUAL 10

#define BASE 0
#define NEW 1

struct side {
    const char *name;                        /* "base", "new": also the name of its folder */
    const char *program;                     /* NULL = this one */
    const char *words[REPEAT_WORDS_MAX + 3]; /* "run", ..., and two for --out; ends with NULL */
    int word_count;
    int64_t
        planned_ns; /* how long a run takes by its plan; 0 = not known, so there is no time limit */
    struct jobs jobs;
    int ended; /* runs that have ended */
    int saved; /* those of them that left a result with a stage, whole or partial */
    /* the gravest exit code of the runs that were not interrupted */
    int exit_code;
};

/* Whole runs of this program, or of two builds of it, one after the other, each a process with servers of its own. The
 * sides alternate A B B A A B B A ..., so that a drift of the machine affects both alike. */
struct repeat {
    const struct repeat_ask *ask;
    const char *folder;  /* the folder of the result, which exists */
    struct side side[2]; /* BASE and NEW */
    int each;            /* runs of each side */
    int done;
    const volatile sig_atomic_t *interrupts;
    bool interrupted; /* the user interrupted, and the last run may be partial */
    bool failed;      /* a run failed, whatever the others found */
};

bool repeat_has_base(const struct repeat_options *options) {
    return options->against || options->sets.count > 0;
}

int repeat_base(const struct repeat_options *options, const char *workload,
                const char **ret_workload, const char **ret_program, struct lb_err *err) {
    const char *against = options->against;
    size_t length = against ? strlen(against) : 0;
    bool is_file = length > 4 && strcmp(against + length - 4, ".ini") == 0;
    struct stat status;
    bool is_program = against && !is_file && stat(against, &status) == 0 &&
                      S_ISREG(status.st_mode) && access(against, X_OK) == 0;
    if (against && !is_file && !is_program && strchr(against, '/'))
        return err_set(
            err, LB_EXIT_USAGE,
            "run: --against %.200s: neither a workload file (its name ends in .ini) nor a program "
            "that may be run",
            against);
    /* plan_load checks the name of a workload */
    *ret_workload = against && !is_program ? against : workload;
    *ret_program = is_program ? against : NULL;
    return 0;
}

/* ---- the command lines ---- */

static int add_word(struct side *side, const char *option, const char *value, struct lb_err *err) {
    if (side->word_count + 2 > REPEAT_WORDS_MAX)
        return err_set(err, LB_EXIT_USAGE,
                       "run: too many --set, --against-set, --slo and --url for one command line");
    if (option) side->words[side->word_count++] = option;
    side->words[side->word_count++] = value;
    return 0;
}

static int add_words(const struct repeat_ask *ask, bool is_base, const char *workload,
                     struct side *side, struct lb_err *err) {
    const struct plan_ask *plan = ask->plan;
    int failed = add_word(side, "run", workload, err);
    if (plan->locks) failed |= add_word(side, "--lock", plan->locks, err);
    /* Another build may be an older one, so it gets only the options that --against gives. */
    if (!side->program) failed |= add_word(side, NULL, "--no-page", err);
    for (int i = 0; i < ask->url_count; i++)
        failed |= add_word(side, "--url", ask->urls[i].word, err);
    for (int i = 0; i < plan->set_count; i++) failed |= add_word(side, "--set", plan->sets[i], err);
    for (int i = 0; !is_base && i < plan->promise_count; i++)
        failed |= add_word(side, "--slo", plan->promises[i], err);
    for (int i = 0; is_base && i < ask->options->sets.count; i++) {
        failed |=
            add_word(side, "--set", ask->options->sets.item[i], err); /* the last --set wins */
    }
    return failed ? -1 : 0;
}

/* ---- one run ---- */

/* Makes the folder of the side's next run: folder/base/03. */
static int make_folder(const struct repeat *repeat, const struct side *side, char *path,
                       size_t size, struct lb_err *err) {
    char parent[600];
    snprintf(parent, sizeof parent, "%s/%s", repeat->folder, side->name);
    if (jobs_make_folder(parent, err) != 0) return -1;
    int used = snprintf(path, size, "%s/%0*d", parent, repeat->each > 100 ? 3 : 2, side->ended);
    if (used < 0 || (size_t)used >= size)
        return err_set(err, LB_EXIT_USAGE, "%s: the path is too long", parent);
    if (mkdir(path, 0777) == 0) return 0;
    if (errno != EEXIST)
        return err_set(err, LB_EXIT_MACHINE, "cannot make %s: %s", path, strerror(errno));
    /* An older run in this folder would be taken for one of this result. */
    return err_set(err, LB_EXIT_USAGE, "--out %s: there are runs already; name a new folder",
                   repeat->folder);
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

/* Called when a run has ended: counts and shows it. 0, or -1 with err if it left no result, since further ones would not
 * leave one either. */
static int take_run(struct repeat *repeat, struct side *side, const struct job_end *end,
                    const char *folder, struct lb_err *err) {
    char result[720], log[720], why[400] = "";
    snprintf(result, sizeof result, "%s/run.json", folder);
    snprintf(log, sizeof log, "%s/log", folder);
    bool saved = keep_result(result);
    if (end->exit_code != LB_EXIT_OK) jobs_last_words(log, why, sizeof why);
    job_was_cut(end, why, sizeof why);
    repeat->interrupted |= *repeat->interrupts > 0;
    if (!repeat->interrupted) {
        bool known =
            end->exit_code >= 0 && end->exit_code <= LB_EXIT_INCONCLUSIVE && !end->timed_out;
        int code = known ? end->exit_code : LB_EXIT_MACHINE;
        if (gravity(code) > gravity(side->exit_code)) side->exit_code = code;
        repeat->failed |= code == LB_EXIT_USAGE || code == LB_EXIT_MACHINE;
    }
    fprintf(stderr, "%d of %d: %s run %d, %.1f s%s%s\n", repeat->done + 1, 2 * repeat->each,
            side->name, side->ended, (double)end->took_ns / 1e9, *why ? ": " : "", why);
    side->saved += saved;
    side->ended++;
    repeat->done++;
    if (saved || repeat->interrupted) return 0;
    return err_set(err, end->exit_code == LB_EXIT_USAGE ? LB_EXIT_USAGE : LB_EXIT_MACHINE,
                   "%s run %d left no result: %.300s (its output: %s)", side->name, side->ended - 1,
                   *why ? why : "it said nothing", log);
}

static int run_one(struct repeat *repeat, struct side *side, struct lb_err *err) {
    char folder[680], log[720];
    struct job_end end;
    if (make_folder(repeat, side, folder, sizeof folder, err) != 0) return -1;
    snprintf(log, sizeof log, "%s/log", folder);
    side->words[side->word_count] = "--out";
    side->words[side->word_count + 1] = folder;
    struct job job = {.argv = side->words,
                      .log = log,
                      .weight = 1,
                      .limit_ns = side->planned_ns > 0 ? JOB_LIMIT_NS(side->planned_ns) : LB_NEVER};
    fflush(stderr);
    if (jobs_run(&side->jobs, &job, repeat->interrupts, &end, err) != 0) return -1;
    return take_run(repeat, side, &end, folder, err);
}

/* ---- the comparison ---- */

static struct compare *compare_sides(const struct repeat *repeat, const char *partial_reason,
                                     struct lb_err *err) {
    char base[700], new[700];
    snprintf(base, sizeof base, "%s/base", repeat->folder);
    snprintf(new, sizeof new, "%s/new", repeat->folder);
    const char *bases[] = {base}, *news[] = {new};
    struct compare_ask ask = {.base = bases,
                              .new = news,
                              .base_count = 1,
                              .new_count = 1,
                              .min_effect = COMPARE_MIN_EFFECT,
                              .metrics = repeat->ask->options->metrics,
                              .partial_reason = partial_reason};
    return compare_make(&ask, err);
}

/* Runs all. 0 when all ran or the user interrupted; -1 with err when a run left no result, or when the first runs of the
 * two sides can't be compared. No child process is left. */
static int run_all(struct repeat *repeat, struct lb_err *err) {
    for (int i = 0; i < 2 * repeat->each && !repeat->interrupted; i++) {
        if (run_one(repeat, &repeat->side[(i ^ i / 2) & 1], err) != 0) return -1;
        if (repeat->done != 2 || repeat->interrupted) continue;
        struct compare *first = compare_sides(repeat, NULL, err);
        if (!first) return -1;
        compare_free(first);
    }
    return 0;
}

static int render_json(const void *compare, FILE *out, struct lb_err *err) {
    return compare_write(compare, COMPARE_JSON, false, false, out, err);
}

/* Prints and saves the comparison. Returns the exit code of `lockbench compare`, or -1 with err. */
static int conclude_repeats(const struct repeat *repeat, struct lb_err *err) {
    char partial[100] = "", path[700];
    const struct side *base = &repeat->side[BASE], *new = &repeat->side[NEW];
    int done = base->saved + new->saved, all = repeat->each * 2;
    if (done < all || repeat->interrupted)
        snprintf(partial, sizeof partial, "%s after %d of %d runs",
                 repeat->interrupted ? "interrupted" : "ended", done, all);
    if (base->saved == 0 || new->saved == 0)
        return err_set(err, repeat->interrupted ? LB_EXIT_INTERRUPTED : LB_EXIT_MACHINE,
                       "%s: not yet a run of each side, so there is nothing to compare", partial);
    struct compare *compare = compare_sides(repeat, *partial ? partial : NULL, err);
    if (!compare) return -1;
    int code = compare_exit(compare);
    snprintf(path, sizeof path, "%s/compare.json", repeat->folder);
    if (compare_write(compare, repeat->ask->json ? COMPARE_JSON : COMPARE_TABLE, true,
                      terminal_has_color(stdout), stdout, err) != 0 ||
        page_write(path, render_json, compare, err) != 0)
        code = -1;
    compare_free(compare);
    return code;
}

/* Says where the runs are, and the commands that show them. compared: the comparison was printed, so the command that
 * makes it again works. */
static void say_where(const struct repeat *repeat, bool compared) {
    char metrics[COMPARE_METRICS_TEXT_MAX];
    const char *folder = repeat->folder;
    fprintf(stderr, "saved in %s", folder);
    if (compared) {
        compare_metrics_text(repeat->ask->options->metrics, metrics);
        fputs("; again, as Markdown: lockbench compare ", stderr);
        shell_quote(stderr, folder);
        fputs("/base -- ", stderr);
        shell_quote(stderr, folder);
        fputs("/new --md", stderr);
        fprintf(stderr, "%s%s", *metrics ? " --metric " : "", metrics);
    }
    fputc('\n', stderr);
}

/* The exit code: the finding of the comparison first, then the failure of a run, then
 * what the new runs found on their own: a promise that is broken, or not sure. */
static int exit_of(int compared, const struct repeat *repeat) {
    if (repeat->interrupted) return LB_EXIT_INTERRUPTED;
    if (compared != LB_EXIT_OK && compared != LB_EXIT_INCONCLUSIVE) return compared;
    if (repeat->failed) return LB_EXIT_MACHINE;
    int found = repeat->side[NEW].exit_code;
    return found ? found : compared;
}

static int begin(struct repeat *repeat, struct lb_err *err) {
    const struct repeat_ask *ask = repeat->ask;
    const char *workload, *program;
    struct side *base = &repeat->side[BASE], *new = &repeat->side[NEW];
    if (repeat_base(ask->options, ask->plan->workload, &workload, &program, err) != 0) return -1;
    *base = (struct side){.name = "base", .program = program, .planned_ns = ask->base_planned_ns};
    *new = (struct side){.name = "new", .planned_ns = ask->planned_ns};
    if (add_words(ask, true, workload, base, err) != 0) return -1;
    if (add_words(ask, false, ask->plan->workload, new, err) != 0) return -1;
    for (int s = 0; s < 2; s++) jobs_init(&repeat->side[s].jobs, repeat->side[s].program, 1);
    repeat->each = ask->options->times > 0 ? ask->options->times : REPEAT_USUAL;
    repeat->interrupts = interrupt_watch(true);
    return 0;
}

/* The part that runs. Returns the exit code, or -1 with err. */
static int carry_out(struct repeat *repeat, struct lb_err *err) {
    struct lb_err uncompared = {0};
    if (repeat->ask->url_count > 0)
        fprintf(stderr, "lockbench: the servers at --url are not restarted between the runs\n");
    int failed = run_all(repeat, err);
    bool any = repeat->side[BASE].saved + repeat->side[NEW].saved > 0;
    if (failed && !any) return -1;
    int code = conclude_repeats(repeat, &uncompared);
    if (any) say_where(repeat, code >= 0);
    if (failed) return -1;
    if (code < 0 && repeat->interrupted) fprintf(stderr, "lockbench: %s\n", uncompared.text);
    if (code < 0 && !repeat->interrupted) {
        *err = uncompared;
        return -1;
    }
    return exit_of(code, repeat);
}

int repeat_run(const struct repeat_ask *ask, struct lb_err *err) {
    struct outdir out;
    struct repeat *repeat = calloc(1, sizeof *repeat);
    int code = -1;
    if (!repeat) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    repeat->ask = ask;
    if (begin(repeat, err) == 0 && outdir_make(&out, ask->out, ask->results, "repeat", err) == 0) {
        repeat->folder = out.path;
        code = carry_out(repeat, err);
    }
    free(repeat);
    return code;
}
