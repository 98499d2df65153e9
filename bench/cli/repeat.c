/* repeat: see repeat.h. */
#include "bench/cli/repeat.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/base/shell_quote.h"
#include "bench/cli/alternate.h"
#include "bench/cli/interrupt.h"
#include "bench/cli/terminal.h"
#include "bench/run/outdir.h"
#include "report/compare/compare.h"

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
    bool other_plan; /* the user asked for another plan, so the plans may differ */
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
                              .anyway = show->other_plan || wish->lock,
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
    fprintf(stderr, "/new --md%s", show->other_plan || lock ? " --anyway" : "");
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
                        .folder = out.path,
                        .other_plan =
                            ask->wish->sets.count > 0 || (ask->wish->against && !program)};
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
