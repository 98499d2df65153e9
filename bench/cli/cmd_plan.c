/* cmd_plan: `lockbench plan`: which locks would carry a load, judged by measured capacities. It
 * reads results only and asks no server. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/base/home.h"
#include "bench/capacity/slo.h"
#include "bench/cli/cli.h"
#include "bench/cli/terminal.h"
#include "bench/workload/lock_words.h"
#include "bench/workload/topologies.h"
#include "drivers/registry.h"
#include "report/planner/planner.h"

#define DEEP_MAX 3 /* folders below results/ */
#define HOLD_MAX_NS (3600.0 * LB_S_NS)
#define COUNT_MAX 1000000000

enum format { FORMAT_TABLE, FORMAT_MD, FORMAT_JSON };

struct wish {
    struct arg_list names;
    double rate;           /* a second; 0 = not given */
    int64_t clients;       /* 0 = not given */
    int64_t keys, hold_ns; /* hold_ns: -1 = not given */
    const char *slo_word, *lock, *topology;
    enum format format;
    struct planner_ask ask; /* made from the arguments */
    char slo[80];
};

static const struct wish start = {.hold_ns = -1};

struct files {
    struct capacity **item;
    int count;
};

static const struct arg args[] = {
    {{"", ARG_LIST, offsetof(struct wish, names), .help = NULL}, "CAPACITY"},
    {{"rate", ARG_RATE, offsetof(struct wish, rate), .min = 1e-6, .max = 1e9,
      .help = "requests of all clients together: 40/s, 2400/min; without it a closed loop"},
     "RATE"},
    {{"clients", LB_OPT_INT, offsetof(struct wish, clients), .min = 1, .max = COUNT_MAX,
      .help = "clients"},
     "N"},
    {{"hold", LB_OPT_DURATION, offsetof(struct wish, hold_ns), .max = HOLD_MAX_NS,
      .help = "how long a holder works: 12ms; default: as in the measurement"},
     "TIME"},
    {{"keys", LB_OPT_INT, offsetof(struct wish, keys), "1", .min = 1, .max = COUNT_MAX,
      .help = "number of keys, to which requests are spread evenly"},
     "N"},
    {{"slo", LB_OPT_TEXT, offsetof(struct wish, slo_word),
      .help = "default: " SLO_BY_RATE "; without a rate " SLO_BY_CLIENTS},
     "PROMISE"},
    {{"lock", ARG_LOCK, offsetof(struct wish, lock), .help = "this one only"}, "LOCK"},
    {{"topology", ARG_TOPOLOGY, offsetof(struct wish, topology), .help = "on this topology only"},
     "NAME"},
    {{"table", ARG_PICK, offsetof(struct wish, format), .min = FORMAT_TABLE,
      .help = "for a terminal; the default"},
     NULL},
    {{"md", ARG_PICK, offsetof(struct wish, format), .min = FORMAT_MD, .help = "Markdown"}, NULL},
    {{"json", ARG_PICK, offsetof(struct wish, format), .min = FORMAT_JSON, .help = "for machines"},
     NULL},
    {{0}, NULL},
};

/* A lock that this build does not know may run anywhere. A measured topology "url" is no script. */
static bool runs_on(const char *name, const char *topology) {
    const struct lb_lock *lock = registry_lock(name);
    const char *const *each = lock ? lb_topologies(lock) : NULL;
    if (!lock || strcmp(topology, "url") == 0) return true;
    for (; each && *each; each++) {
        if (strcmp(*each, topology) == 0) return true;
    }
    return !lb_topologies(lock) && strcmp(topology, "embedded") == 0;
}

/* Fills the question to the planner, with NAN for what was not given. */
static int fill_ask(struct wish *wish, struct lb_err *err) {
    struct stage_promise slo;
    const char *word = wish->slo_word;
    if (!word) word = wish->rate > 0 ? SLO_BY_RATE : SLO_BY_CLIENTS;
    if (slo_parse(word, &slo, err) != 0) {
        err_prefix(err, "plan: --slo");
        return -1;
    }
    wish->ask = (struct planner_ask){
        .rate = wish->rate > 0 ? wish->rate : NAN,
        .clients = wish->clients > 0 ? (double)wish->clients : NAN,
        .hold_ns = wish->hold_ns >= 0 ? (double)wish->hold_ns : NAN,
        .keys = (double)wish->keys,
        .metric = metric_name(slo.metric),
        .quantile = slo.quantile,
        .limit_ns = (double)slo.limit_ns,
        .slo = slo_text(&slo, wish->slo, sizeof wish->slo),
        .lock = wish->lock,
        .topology = wish->topology,
        .runs_on = runs_on,
    };
    return 0;
}

static int add_file(struct files *files, const char *path, struct lb_err *err) {
    struct capacity **more = realloc(files->item, (size_t)(files->count + 1) * sizeof *more);
    if (!more) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    files->item = more;
    more[files->count] = capacity_read(path, err);
    if (!more[files->count]) return -1;
    files->count++;
    return 0;
}

static int add_below(struct files *files, const char *folder, int deep, struct lb_err *err);

/* Links are left out, since results/latest would count one result twice. lstat tells a link on
 * every file system; d_type does not. */
static int add_entry(struct files *files, const char *folder, const char *name, int deep,
                     struct lb_err *err) {
    char *path = NULL;
    struct stat status;
    int failed = 0;
    if (name[0] == '.' || deep == 0) return 0;
    if (asprintf(&path, "%s/%s", folder, name) < 0)
        return err_set(err, LB_EXIT_MACHINE, "out of memory");
    if (lstat(path, &status) == 0 && S_ISDIR(status.st_mode))
        failed = add_below(files, path, deep - 1, err);
    free(path);
    return failed;
}

/* Adds every capacity.json in a folder and below it. */
static int add_below(struct files *files, const char *folder, int deep, struct lb_err *err) {
    if (capacity_is(folder)) return add_file(files, folder, err);
    struct dirent **entries = NULL;
    int found = scandir(folder, &entries, NULL, alphasort), failed = 0;
    if (found < 0) return err_set(err, LB_EXIT_USAGE, "plan: %s: %s", folder, strerror(errno));
    for (int i = 0; i < found; i++) {
        if (!failed) failed = add_entry(files, folder, entries[i]->d_name, deep, err);
        free(entries[i]);
    }
    free(entries);
    return failed;
}

static bool is_folder(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static int read_files(const struct wish *wish, struct files *files, struct lb_err *err) {
    char results[PATH_MAX];
    for (int i = 0; i < wish->names.count; i++) {
        int before = files->count;
        const char *name = wish->names.item[i];
        if ((is_folder(name) ? add_below(files, name, DEEP_MAX, err)
                             : add_file(files, name, err)) != 0)
            return -1;
        if (files->count == before)
            return err_set(err, LB_EXIT_USAGE,
                           "plan: %s: there is no " CAPACITY_FILE " in it or below: "
                           "lockbench capacity makes one",
                           name);
    }
    if (wish->names.count > 0) return 0;
    if (home_results(results, sizeof results, err) != 0) return -1;
    return is_folder(results) ? add_below(files, results, DEEP_MAX, err) : 0;
}

static bool has_lock(const struct files *files, const char *name) {
    for (int f = 0; f < files->count; f++) {
        for (int l = 0; l < files->item[f]->lock_count; l++) {
            if (strcmp(files->item[f]->locks[l].lock, name) == 0) return true;
        }
    }
    return false;
}

static bool has_topology(const struct files *files, const char *name) {
    for (int f = 0; f < files->count; f++) {
        for (int l = 0; l < files->item[f]->lock_count; l++) {
            const char *topology = files->item[f]->locks[l].topology;
            if (topology && strcmp(topology, name) == 0) return true;
        }
    }
    return false;
}

/* Refuses names that neither this build nor a file has. Files may have more than the build. */
static int check_names(const struct wish *wish, const struct files *files, struct lb_err *err) {
    const char *lock = wish->lock, *topology = wish->topology;
    if (lock && !has_lock(files, lock) && !registry_lock(lock) && !registry_left_out()) {
        lock_name_unknown(lock, err);
        err_prefix(err, "plan: --lock");
        return -1;
    }
    if (topology && !has_topology(files, topology) && topology_check(topology, err) != 0) {
        err_prefix(err, "plan: --topology");
        return -1;
    }
    if (lock && topology && !has_topology(files, topology) && !runs_on(lock, topology))
        return err_set(err, LB_EXIT_USAGE,
                       "plan: %s does not run on %s: `lockbench list %s` says where it runs", lock,
                       topology, lock);
    return 0;
}

static int run_plan(void *values, const struct args *unused, struct lb_err *err) {
    struct wish *wish = values;
    (void)unused;
    if (fill_ask(wish, err) != 0) return -1;
    struct files files = {0};
    struct planner *planner = NULL;
    int code = -1;
    bool color = terminal_has_color(stdout);
    if (read_files(wish, &files, err) == 0 && check_names(wish, &files, err) == 0)
        planner = planner_make(files.item, files.count, &wish->ask, err);
    if (planner) {
        struct doc doc = {0};
        enum doc_format format = wish->format == FORMAT_MD ? DOC_MARKDOWN : DOC_TERMINAL;
        if (wish->format != FORMAT_JSON) planner_doc(planner, &doc);
        int failed = wish->format == FORMAT_JSON
                         ? planner_write_json(planner, stdout, err)
                         : doc_write_and_free(&doc, format, color, stdout, err);
        code = failed ? -1 : planner_exit(planner);
    }
    planner_free(planner);
    for (int i = 0; i < files.count; i++) capacity_free(files.item[i]);
    free(files.item);
    return code;
}

static const struct example examples[] = {
    {"lockbench plan --rate 40/s --hold 12ms --slo 'acquire_due.p99<=100ms'",
     "by all capacities below results/"},
    {NULL, NULL},
};

const struct command command_plan = {
    .name = "plan",
    .summary = "which locks would carry a load, by the capacities that were measured",
    .usage =
        "plan [CAPACITY...] --rate RATE [--clients N] [--hold TIME] [--keys N] [--slo PROMISE]",
    .about =
        "Says which locks would carry a load, with what margin, and by which measurement of\n"
        "`lockbench capacity`. It reads their folders or files, by default all below results/.\n"
        "If no measurement answers, it prints the command that would.\n"
        "Exit codes: 0 some lock carries the load, 4 none does, 5 unknown.",
    .examples = examples,
    .args = args,
    .bytes = sizeof(struct wish),
    .start = &start,
    .run = run_plan,
};
