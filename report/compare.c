/* compare: see compare.h. */
#define _GNU_SOURCE
#include "report/compare.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/model.h"
#include "results/stats/rank.h"

#define LEVEL 0.95
#define WANTED_MAX 1000
#define WANTED_FEW 10 /* what an interval needs before it can tell how much is missing */

#define AT(member) offsetof(struct run_stage, member)

const struct compare_metric compare_metrics[COMPARE_METRICS] = {
    {"throughput", "grants/s", true, false, AT(throughput_per_s)},
    {"acquire_p50", "acquire p50", false, true, AT(latency[RUN_ACQUIRE].p50)},
    {"acquire_p99", "acquire p99", false, true, AT(latency[RUN_ACQUIRE].p99)},
    {"handoff_p50", "handoff p50", false, true, AT(latency[RUN_HANDOFF].p50)},
    {"release_p99", "release p99", false, true, AT(latency[RUN_RELEASE].p99)},
    {"client_cpu", "client CPU a grant", false, true, AT(client_cpu_ns_per_grant)},
    {"server_cpu", "server CPU a grant", false, true, AT(server_cpu_ns_per_grant)},
    {"commands", "commands a grant", false, false, AT(commands_per_grant)},
};

const char *compare_word(enum compare_verdict verdict) {
    static const char *const words[] = {"unknown", "no change shown", "better", "inconclusive", "worse"};
    return words[verdict];
}

int compare_exit(const struct compare *compare) {
    if (compare->violated) return LB_EXIT_VIOLATED;
    if (compare->counts[COMPARE_WORSE] > 0 || compare->stuck) return LB_EXIT_REGRESSION;
    bool unsure = compare->counts[COMPARE_INCONCLUSIVE] > 0 || compare->missing > 0;
    return unsure ? LB_EXIT_INCONCLUSIVE : LB_EXIT_OK;
}

/* ---- reading ---- */

static int add_run(struct run ***runs, int *count, const char *path, struct lb_err *err) {
    struct run **more = realloc(*runs, (size_t)(*count + 1) * sizeof **runs);
    if (!more) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    *runs = more;
    more[*count] = run_read(path, err);
    if (!more[*count]) return -1;
    ++*count;
    return 0;
}

static bool has_run(const char *folder) {
    char *file = NULL;
    bool has = asprintf(&file, "%s/run.json", folder) >= 0 && access(file, F_OK) == 0;
    free(file);
    return has;
}

static bool is_folder(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* A folder without a run.json of its own is one of runs. Links (results/latest) would count a run twice. */
static int add_folder(struct run ***runs, int *count, const char *path, struct lb_err *err) {
    struct dirent **entries = NULL;
    int found = scandir(path, &entries, NULL, alphasort), before = *count, failed = 0;
    for (int i = 0; i < found; i++) {
        char *inner = NULL;
        if (!failed && entries[i]->d_name[0] != '.' && entries[i]->d_type != DT_LNK &&
            asprintf(&inner, "%s/%s", path, entries[i]->d_name) >= 0 && has_run(inner)) {
            failed = add_run(runs, count, inner, err);
        }
        free(inner);
        free(entries[i]);
    }
    free(entries);
    if (!failed && *count == before) {
        return err_set(err, LB_EXIT_USAGE, "%s: neither a run nor a folder of runs: no run.json in it", path);
    }
    return failed;
}

static int read_side(const char *const *paths, int path_count, struct run ***runs, int *count,
                     struct lb_err *err) {
    for (int i = 0; i < path_count; i++) {
        bool many = is_folder(paths[i]) && !has_run(paths[i]);
        if ((many ? add_folder : add_run)(runs, count, paths[i], err) != 0) return -1;
    }
    return 0;
}

/* ---- differences ---- */

static int add_difference(struct compare *compare, const char *what, const char *base, const char *new) {
    char *line = NULL;
    if (asprintf(&line, "%s: %s, now %s", what, base ? base : "not known", new ? new : "not known") < 0)
        return -1;
    for (int i = 0; i < compare->difference_count; i++) {
        if (strcmp(compare->differences[i], line) == 0) {
            free(line);
            return 0;
        }
    }
    char **more = realloc(compare->differences, (size_t)(compare->difference_count + 1) * sizeof *more);
    if (!more) {
        free(line);
        return -1;
    }
    compare->differences = more;
    more[compare->difference_count++] = line;
    return 0;
}

/* Scalars of two JSON objects that are not the same; lists and histograms are not looked into. */
static int differ(struct compare *compare, const char *path, const json_t *base, const json_t *new) {
    const char *key;
    json_t *of_new;
    int failed = 0;
    json_object_foreach((json_t *)(uintptr_t) new, key, of_new) {
        char inner[200];
        json_t *of_base = json_object_get(base, key);
        snprintf(inner, sizeof inner, "%s%s%s", path, *path ? "." : "", key);
        if (json_equal(of_base, of_new) || json_is_array(of_new)) continue;
        if (json_is_object(of_new) && json_is_object(of_base)) {
            failed |= differ(compare, inner, of_base, of_new);
            continue;
        }
        char *was = of_base ? json_dumps(of_base, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
        char *is = json_dumps(of_new, JSON_ENCODE_ANY | JSON_COMPACT);
        failed |= add_difference(compare, inner, was, is);
        free(was);
        free(is);
    }
    return failed;
}

static const char *version_of(const struct run *run, const char *backend) {
    for (int i = 0; i < run->server_count; i++) {
        if (run->servers[i].backend && strcmp(run->servers[i].backend, backend) == 0) {
            return json_string_value(json_object_get(run->servers[i].facts, "version"));
        }
    }
    return NULL;
}

/* What the first run of each side says of plan, machine and servers. */
static int find_differences(struct compare *compare) {
    const struct run *base = compare->base[0], *new = compare->new[0];
    int failed = differ(compare, "plan", base->plan, new->plan);
    failed |= differ(compare, "environment", base->environment, new->environment);
    for (int i = 0; i < new->server_count; i++) {
        const char *backend = new->servers[i].backend;
        const char *was = backend ? version_of(base, backend) : NULL;
        const char *is = backend ? version_of(new, backend) : NULL;
        if (was && is && strcmp(was, is) != 0) failed |= add_difference(compare, backend, was, is);
    }
    return failed;
}

/* ---- pairing ---- */

static bool same_text(const char *a, const char *b) {
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* A side's stages of one lock and load. */
struct pick {
    const struct run_stage **stages;
    int count;
};

/* A stage and what it is paired by. */
struct ref {
    const struct run_stage *stage;
    const char *lock;  /* the base's name of it */
    const char *where; /* its topology and durability, "" when all are compared anyway; in load's memory */
    char *load;        /* owned */
    bool new;
    int place; /* in the order of reading */
};

struct refs {
    struct ref *item;
    int count, room;
};

/* The lock and what is asked of it. */
static int by_task(const void *a, const void *b) {
    const struct ref *x = a, *y = b;
    int order = strcmp(x->lock, y->lock);
    if (!order) order = strcmp(x->load, y->load);
    if (!order) order = (x->stage->clients > y->stage->clients) - (x->stage->clients < y->stage->clients);
    return order;
}

/* And where it ran: what ran elsewhere answers another question. */
static int by_pair(const void *a, const void *b) {
    int order = by_task(a, b);
    return order ? order : strcmp(((const struct ref *)a)->where, ((const struct ref *)b)->where);
}

static int by_pair_and_place(const void *a, const void *b) {
    const struct ref *x = a, *y = b;
    int order = by_pair(a, b);
    return order ? order : x->place - y->place;
}

/* load, then where, in one block. */
static char *task_text(const struct run_stage *stage, bool anyway, const char **ret_where) {
    char *load = report_load_text(stage), *text = NULL;
    if (!load) return NULL;
    const char *topology = stage->topology && !anyway ? stage->topology : "";
    const char *durability = stage->durability && !anyway ? stage->durability : "";
    int len = asprintf(&text, "%s%c%s, %s", load, 0, topology, durability);
    if (len >= 0) *ret_where = text + strlen(load) + 1;
    free(load);
    return len >= 0 ? text : NULL;
}

static int add_ref(struct refs *refs, const struct run_stage *stage, const char *lock, bool new,
                   bool anyway) {
    if (refs->count == refs->room) {
        int room = refs->room ? 2 * refs->room : 64;
        struct ref *more = realloc(refs->item, (size_t)room * sizeof *more);
        if (!more) return -1;
        refs->item = more;
        refs->room = room;
    }
    const char *where = "";
    char *load = task_text(stage, anyway, &where);
    if (!load) return -1;
    refs->item[refs->count] = (struct ref){stage, lock, where, load, new, refs->count};
    refs->count++;
    return 0;
}

/* All stages of a side that are to be compared. */
static int add_refs(struct refs *refs, struct run *const *runs, int run_count, const struct compare_ask *ask,
                    bool new) {
    const char *wanted = new ? ask->new_lock : ask->base_lock;
    for (int r = 0; r < run_count; r++) {
        for (int s = 0; s < runs[r]->stage_count; s++) {
            const struct run_stage *stage = &runs[r]->stages[s];
            if (!stage->lock || (wanted && strcmp(stage->lock, wanted) != 0)) continue;
            const char *lock = wanted ? ask->base_lock : stage->lock;
            if (add_ref(refs, stage, lock, new, ask->anyway || wanted) != 0) return -1;
        }
    }
    return 0;
}

static void free_refs(struct refs *refs) {
    for (int i = 0; i < refs->count; i++) free(refs->item[i].load);
    free(refs->item);
}

/* What must be alike, or the numbers answer different questions. */
static int check_alike(const struct run_stage *base, const struct run_stage *new, struct lb_err *err) {
    const struct {
        const char *what, *base, *new;
    } texts[] = {{"topology", base->topology, new->topology},
                 {"durability", base->durability, new->durability}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (same_text(texts[i].base, texts[i].new)) continue;
        return err_set(err, LB_EXIT_USAGE,
                       "compare: %s: %s is '%s' in the base and '%s' in the new runs, so the figures answer "
                       "different questions; --anyway compares them",
                       new->lock, texts[i].what, texts[i].base ? texts[i].base : "not known",
                       texts[i].new ? texts[i].new : "not known");
    }
    if (base->processes == new->processes && base->threads == new->threads) return 0;
    return err_set(err, LB_EXIT_USAGE,
                   "compare: %s: the base ran on %.0f processes with %.0f threads, the new runs on %.0f with "
                   "%.0f, so the latencies are not comparable; --anyway compares them",
                   new->lock, base->processes, base->threads, new->processes, new->threads);
}

/* ---- figures ---- */

/* A side's logarithms; stages that were cut off, or that lack the figure, are no samples. */
static int fill_side(const struct pick *pick, const struct compare_metric *metric, struct compare_side *side,
                     double **ret_logs) {
    side->values = malloc((size_t)(pick->count + 1) * sizeof *side->values);
    *ret_logs = malloc((size_t)(pick->count + 1) * sizeof **ret_logs);
    if (!side->values || !*ret_logs) return -1;
    for (int i = 0; i < pick->count; i++) {
        double value = run_stage_figure(pick->stages[i], metric->offset);
        if (!same_text(pick->stages[i]->status, "complete") || !(value > 0)) continue;
        side->values[side->count] = value;
        (*ret_logs)[side->count++] = log(value);
    }
    side->median = rank_median(side->values, side->count);
    return 0;
}

/* It ran to its end, and granted nothing. */
static bool is_idle(const struct pick *new) {
    for (int i = 0; i < new->count; i++) {
        if (same_text(new->stages[i]->status, "complete") && new->stages[i]->throughput_per_s == 0)
            return true;
    }
    return false;
}

static int fill_figure(struct compare_figure *figure, const struct compare_metric *metric,
                       const struct pick *base, const struct pick *new) {
    double *x = NULL, *y = NULL;
    struct rank_shift shift;
    int failed = fill_side(base, metric, &figure->base, &x);
    if (!failed) failed = fill_side(new, metric, &figure->new, &y);
    figure->p = figure->shift = figure->low = figure->high = NAN;
    /* Nothing to measure any more, where there was: no grants at all, or stages that failed. */
    if (!failed && metric == &compare_metrics[0] && figure->base.count > 0 && figure->new.count == 0) {
        figure->verdict = is_idle(new) ? COMPARE_WORSE : COMPARE_INCONCLUSIVE;
    }
    if (!failed && figure->base.count > 0 && figure->new.count > 0) {
        figure->p = rank_p(x, figure->base.count, y, figure->new.count);
        failed = rank_shift(x, figure->base.count, y, figure->new.count, LEVEL, &shift);
        if (!failed) {
            figure->shift = expm1(shift.estimate);
            figure->low = expm1(shift.low); /* -1 and infinity where the groups are too small */
            figure->high = expm1(shift.high);
            figure->verdict = COMPARE_INCONCLUSIVE; /* for now */
        }
    }
    free(x);
    free(y);
    return failed;
}

/* Repeats that would make the interval as narrow as min_effect: its width shrinks with the root of n. */
static int wanted_repeats(const struct compare_figure *figure, double min_effect, double alpha) {
    int have = figure->base.count < figure->new.count ? figure->base.count : figure->new.count;
    int least = rank_smallest(1 - alpha);
    if (have < least || isinf(figure->high) || figure->low <= -1) return WANTED_FEW;
    double half = (log1p(figure->high) - log1p(figure->low)) / 2;
    double times = half / log1p(min_effect);
    double wanted = ceil(have * times * times);
    if (wanted <= have) wanted = have + 1;
    return wanted < WANTED_MAX ? (int)wanted : WANTED_MAX;
}

static void judge(struct compare_figure *figure, const struct compare_metric *metric, double min_effect,
                  double alpha) {
    bool changed = figure->p <= alpha && fabs(figure->shift) >= min_effect;
    if (changed) {
        figure->verdict = (figure->shift > 0) == metric->more_is_better ? COMPARE_BETTER : COMPARE_WORSE;
    } else if (figure->low > -2 * min_effect && figure->high < 2 * min_effect) {
        figure->verdict = COMPARE_SAME;
    } else {
        figure->wanted = wanted_repeats(figure, min_effect, alpha);
    }
}

/* Holm's correction over everything that is compared, then the verdicts. */
static int judge_all(struct compare *compare) {
    int room = compare->row_count * COMPARE_METRICS, count = 0;
    double *p = malloc(((size_t)room + 1) * sizeof *p);
    struct compare_figure **figures = malloc(((size_t)room + 1) * sizeof(struct compare_figure *));
    int failed = !p || !figures;
    for (int i = 0; !failed && i < room; i++) {
        struct compare_figure *figure = &compare->rows[i / COMPARE_METRICS].figure[i % COMPARE_METRICS];
        if (isnan(figure->p)) continue;
        p[count] = figure->p;
        figures[count++] = figure;
    }
    if (!failed) failed = rank_holm(p, count) != 0;
    for (int i = 0; !failed && i < count; i++) figures[i]->p = p[i];
    for (int i = 0; !failed && i < room; i++) {
        struct compare_figure *figure = &compare->rows[i / COMPARE_METRICS].figure[i % COMPARE_METRICS];
        if (isnan(figure->p)) {
            figure->wanted = WANTED_FEW;
        } else {
            judge(figure, &compare_metrics[i % COMPARE_METRICS], compare->min_effect, compare->alpha);
        }
        compare->counts[figure->verdict]++;
    }
    free(p);
    free(figures);
    return failed ? -1 : 0;
}

/* ---- rows ---- */

/* Whether a lock that is not broken on purpose came out so. */
static bool is_any(const struct pick *new, enum lock_state state) {
    for (int i = 0; i < new->count; i++) {
        if (!new->stages[i]->control && report_stage_state(new->stages[i]) == state) return true;
    }
    return false;
}

static bool is_violated(const struct pick *new) {
    return is_any(new, LOCK_VIOLATED) || is_any(new, LOCK_TOKENS);
}

static bool is_stuck(const struct pick *new) {
    return is_any(new, LOCK_STUCK);
}

/* A lock under a load that one side lacks: said, and no reason to be content. */
static int add_alone(struct compare *compare, const struct ref *ref, struct lb_err *err) {
    char *line = NULL;
    char **more = realloc(compare->alone, (size_t)(compare->alone_count + 1) * sizeof *more);
    if (more) compare->alone = more;
    if (!more ||
        asprintf(&line, "only in the %s runs: %s, %.0f client%s, %s", ref->new ? "new" : "base",
                 ref->stage->lock, ref->stage->clients, ref->stage->clients == 1 ? "" : "s", ref->load) < 0)
        return err_set(err, LB_EXIT_MACHINE, "out of memory");
    more[compare->alone_count++] = line;
    compare->missing += !ref->new;
    return 0;
}

/* One lock under one load: refs of both sides. Adds a row if both have stages. */
static int add_row(struct compare *compare, const struct compare_ask *ask, struct ref *refs, int count,
                   struct lb_err *err) {
    const struct run_stage **stages = malloc((size_t)count * sizeof *stages);
    if (!stages) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    struct pick base = {.stages = stages}, new = {0};
    for (int i = 0; i < count; i++) {
        if (!refs[i].new) stages[base.count++] = refs[i].stage;
    }
    new.stages = stages + base.count;
    for (int i = 0; i < count; i++) {
        if (refs[i].new) new.stages[new.count++] = refs[i].stage;
    }
    int failed = 0;
    compare->violated |= is_violated(&new);
    if (base.count == 0 || new.count == 0) {
        failed = add_alone(compare, &refs[0], err);
        goto out;
    }
    bool itself = strcmp(base.stages[0]->lock, new.stages[0]->lock) == 0;
    for (int i = 1; i < count && itself && !ask->anyway && !failed; i++) {
        failed = check_alike(base.stages[0], stages[i], err);
    }
    if (failed) goto out;
    struct compare_row *more = realloc(compare->rows, (size_t)(compare->row_count + 1) * sizeof *more);
    failed = more ? 0 : err_set(err, LB_EXIT_MACHINE, "out of memory");
    if (failed) goto out;
    compare->rows = more;
    struct compare_row *row = &more[compare->row_count++];
    *row = (struct compare_row){.lock = base.stages[0]->lock,
                                .new_lock = new.stages[0]->lock,
                                .load = refs[0].load,
                                .clients = refs[0].stage->clients,
                                .place = refs[0].place,
                                .base_count = base.count,
                                .new_count = new.count,
                                .violated = is_violated(&new),
                                .stuck = is_stuck(&new)};
    refs[0].load = NULL; /* the row's now */
    compare->stuck |= row->stuck;
    for (int m = 0; m < COMPARE_METRICS && !failed; m++) {
        failed = fill_figure(&row->figure[m], &compare_metrics[m], &base, &new);
        if (failed) err_set(err, LB_EXIT_MACHINE, "out of memory");
    }
out:
    free(stages);
    return failed;
}

/* What both sides have, but nowhere in the same place, is refused: sorted as they are, such refs stand
 * together. */
static int check_places(const struct refs *refs, struct lb_err *err) {
    for (int from = 0, to; from < refs->count; from = to) {
        const struct ref *base = NULL, *new = NULL;
        bool paired = false;
        for (to = from; to < refs->count && by_task(&refs->item[from], &refs->item[to]) == 0; to++) {
            const struct ref *ref = &refs->item[to];
            if (to > from && ref->new != ref[-1].new) paired |= by_pair(ref, ref - 1) == 0;
            if (ref->new) new = ref;
            if (!ref->new) base = ref;
        }
        if (!paired && base && new &&check_alike(base->stage, new->stage, err) != 0) return -1;
    }
    return 0;
}

static int by_row_place(const void *a, const void *b) {
    return ((const struct compare_row *)a)->place - ((const struct compare_row *)b)->place;
}

static int add_rows(struct compare *compare, const struct compare_ask *ask, struct lb_err *err) {
    struct refs refs = {0};
    int failed = add_refs(&refs, compare->base, compare->base_count, ask, false);
    if (!failed) failed = add_refs(&refs, compare->new, compare->new_count, ask, true);
    if (failed) err_set(err, LB_EXIT_MACHINE, "out of memory");
    if (!failed && refs.count > 0) qsort(refs.item, (size_t)refs.count, sizeof *refs.item, by_pair_and_place);
    if (!failed) failed = check_places(&refs, err);
    for (int from = 0, to; !failed && from < refs.count; from = to) {
        for (to = from + 1; to < refs.count && by_pair(&refs.item[from], &refs.item[to]) == 0;) to++;
        failed = add_row(compare, ask, &refs.item[from], to - from, err);
    }
    free_refs(&refs);
    if (failed) return -1;
    if (compare->row_count == 0) {
        return err_set(
            err, LB_EXIT_USAGE,
            "compare: no stage in common: no lock stands in the base and in the new runs under the "
            "same load with as many clients");
    }
    qsort(compare->rows, (size_t)compare->row_count, sizeof *compare->rows, by_row_place);
    return 0;
}

struct compare *compare_make(const struct compare_ask *ask, struct lb_err *err) {
    struct compare *compare = calloc(1, sizeof *compare);
    if (!compare) {
        err_set(err, LB_EXIT_MACHINE, "out of memory");
        return NULL;
    }
    compare->min_effect = ask->min_effect;
    compare->alpha = ask->alpha;
    if (read_side(ask->base, ask->base_count, &compare->base, &compare->base_count, err) != 0 ||
        read_side(ask->new, ask->new_count, &compare->new, &compare->new_count, err) != 0 ||
        add_rows(compare, ask, err) != 0)
        goto failed;
    if (find_differences(compare) == 0 && judge_all(compare) == 0) return compare;
    err_set(err, LB_EXIT_MACHINE, "out of memory");
failed:
    compare_free(compare);
    return NULL;
}

void compare_free(struct compare *compare) {
    if (!compare) return;
    for (int i = 0; i < compare->row_count; i++) {
        free(compare->rows[i].load);
        for (int m = 0; m < COMPARE_METRICS; m++) {
            free(compare->rows[i].figure[m].base.values);
            free(compare->rows[i].figure[m].new.values);
        }
    }
    for (int i = 0; i < compare->base_count; i++) run_free(compare->base[i]);
    for (int i = 0; i < compare->new_count; i++) run_free(compare->new[i]);
    for (int i = 0; i < compare->difference_count; i++) free(compare->differences[i]);
    for (int i = 0; i < compare->alone_count; i++) free(compare->alone[i]);
    free(compare->alone);
    free(compare->rows);
    free(compare->base);
    free(compare->new);
    free(compare->differences);
    free(compare);
}
