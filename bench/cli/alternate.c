/* alternate: see alternate.h. */
#include "bench/cli/alternate.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/base/clock.h"
#include "bench/check/jobs.h"

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

int alternate_run(const struct alternate_ask *ask, struct alternate_end *ret_end,
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
