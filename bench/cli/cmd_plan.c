/* cmd_plan: `lockbench plan`: which locks carry a load, by measured capacities. It reads results
 * only and asks no server. */
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
#include "bench/capacity/probe.h"
#include "bench/cli/cli.h"
#include "bench/cli/terminal.h"
#include "bench/workload/sections.h"
#include "report/capacity/carry.h"

#define COUNT_MAX 1000000000

enum format { FORMAT_TABLE, FORMAT_MD, FORMAT_JSON };

struct wish {
    struct arg_list names;
    double rate;     /* a second; 0 = not given */
    int64_t clients; /* 0 = not given */
    const char *slo_word, *hold, *keys;
    enum format format;
    char slo[80], hold_text[64], keys_text[64]; /* as capacity.json has them */
};

struct files {
    struct capacity **item;
    int count;
};

static const struct arg args[] = {
    {{"", ARG_LIST, offsetof(struct wish, names), .help = NULL}, "CAPACITY"},
    {{"rate", ARG_RATE, offsetof(struct wish, rate), .min = 1e-6, .max = 1e9,
      .help = "requests of all clients together: 40/s, 2400/min"},
     "RATE"},
    {{"clients", LB_OPT_INT, offsetof(struct wish, clients), .min = 1, .max = COUNT_MAX,
      .help = "clients of a closed loop; with --rate only measurements with this pool answer"},
     "N"},
    {{"slo", LB_OPT_TEXT, offsetof(struct wish, slo_word),
      .help = "default: " SLO_BY_RATE "; without a rate " SLO_BY_CLIENTS},
     "PROMISE"},
    {{"hold", LB_OPT_TEXT, offsetof(struct wish, hold),
      .help = "only measurements with this hold answer"},
     "TIME"},
    {{"keys", LB_OPT_TEXT, offsetof(struct wish, keys),
      .help = "only measurements with these keys answer"},
     "KEYS"},
    {{"md", ARG_PICK, offsetof(struct wish, format), .min = FORMAT_MD, .help = "Markdown"}, NULL},
    {{"json", ARG_PICK, offsetof(struct wish, format), .min = FORMAT_JSON, .help = "for machines"},
     NULL},
    {{0}, NULL},
};

/* Reads a value for a key of [load] into a plan. */
static int read_load(const char *name, const char *text, struct plan *plan, struct arena *arena,
                     struct lb_err *err) {
    int number;
    char place[40];
    snprintf(place, sizeof place, "plan: --%s", name);
    return option_set(options_find(section_find("load", &number)->keys, name), plan, text, place,
                      arena, err);
}

static int read_slo(struct wish *wish, struct lb_err *err) {
    struct stage_promise slo;
    bool by_rate = wish->rate > 0;
    const char *word = wish->slo_word;
    if (!word) word = by_rate ? SLO_BY_RATE : SLO_BY_CLIENTS;
    if (slo_parse(word, &slo, err) != 0) {
        err_prefix(err, "plan: --slo");
        return -1;
    }
    if (by_rate != (slo.metric == METRIC_ACQUIRE_DUE))
        return err_set(err, LB_EXIT_USAGE,
                       by_rate ? "plan: with --rate a request waits from when it is due: promise "
                                 "acquire_due"
                               : "plan: without a rate nothing falls due: promise acquire, or say "
                                 "--rate");
    slo_text(&slo, wish->slo, sizeof wish->slo);
    return 0;
}

/* Fills the question, in the words of capacity.json. */
static int fill_ask(struct wish *wish, struct arena *arena, struct carry_ask *ret,
                    struct lb_err *err) {
    struct plan *plan = arena_alloc(arena, sizeof *plan); /* zeroed */
    if (!plan) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    if (!(wish->rate > 0) && wish->clients == 0)
        return err_set(err, LB_EXIT_USAGE,
                       "plan: neither a rate nor clients: say --rate, --clients or both");
    if (read_slo(wish, err) != 0) return -1;
    if (wish->hold && read_load("hold", wish->hold, plan, arena, err) != 0) return -1;
    if (wish->keys && read_load("keys", wish->keys, plan, arena, err) != 0) return -1;
    dist_text(&plan->hold, wish->hold_text, sizeof wish->hold_text);
    keyspace_text(&plan->keys, wish->keys_text, sizeof wish->keys_text);
    wish->keys_text[strcspn(wish->keys_text, " ")] = '\0'; /* without the distribution */
    double clients = wish->clients > 0 ? (double)wish->clients : NAN;
    bool by_rate = wish->rate > 0;
    *ret = (struct carry_ask){.by_rate = by_rate,
                              .load = by_rate ? wish->rate : clients,
                              .clients = by_rate ? clients : NAN,
                              .slo = wish->slo,
                              .hold = wish->hold ? wish->hold_text : NULL,
                              .keys = wish->keys ? wish->keys_text : NULL};
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

/* Adds the capacity.json of a folder, or of each folder in it. A link, as results/latest, may add one
 * twice, which does no harm: only one answer of each lock counts. */
static int add_folder(struct files *files, const char *folder, struct lb_err *err) {
    struct dirent **entries = NULL;
    int failed = 0;
    if (capacity_is(folder)) return add_file(files, folder, err);
    int found = scandir(folder, &entries, NULL, alphasort);
    if (found < 0) return err_set(err, LB_EXIT_USAGE, "plan: %s: %s", folder, strerror(errno));
    for (int i = 0; i < found; i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (!failed && capacity_is(path)) failed = add_file(files, path, err);
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
        if ((is_folder(name) ? add_folder(files, name, err) : add_file(files, name, err)) != 0)
            return -1;
        if (files->count == before)
            return err_set(err, LB_EXIT_USAGE,
                           "plan: %s: there is no " CAPACITY_FILE " in it or in its folders: "
                           "lockbench capacity makes one",
                           name);
    }
    if (wish->names.count > 0) return 0;
    if (home_results(results, sizeof results, err) != 0) return -1;
    return is_folder(results) ? add_folder(files, results, err) : 0;
}

static int run_plan(void *values, const struct args *given, struct lb_err *err) {
    struct wish *wish = values;
    struct carry_ask ask;
    struct files files = {0};
    struct carry *carry = NULL;
    int code = -1;
    if (fill_ask(wish, given->arena, &ask, err) != 0) return -1;
    if (read_files(wish, &files, err) == 0) carry = carry_new(files.item, files.count, &ask, err);
    if (carry) {
        struct doc doc = {0};
        int failed;
        if (wish->format == FORMAT_JSON) {
            failed = carry_json(carry, stdout, err);
        } else {
            carry_doc(carry, &doc);
            failed =
                doc_write_and_free(&doc, wish->format == FORMAT_MD ? DOC_MARKDOWN : DOC_TERMINAL,
                                   terminal_has_color(stdout), stdout, err);
        }
        code = failed ? -1 : carry_exit(carry);
    }
    carry_free(carry);
    for (int i = 0; i < files.count; i++) capacity_free(files.item[i]);
    free(files.item);
    return code;
}

static const struct example examples[] = {
    {"lockbench plan --rate 40/s --hold 12ms --slo 'acquire_due.p99<=100ms'",
     "by all capacities in results/"},
    {NULL, NULL},
};

const struct command command_plan = {
    .name = "plan",
    .summary = "which locks carry a load, by the capacities that were measured",
    .usage = "plan [CAPACITY...] --rate RATE | --clients N [--slo PROMISE] [--hold TIME]",
    .about = "Says which locks carry a load, with what margin, and by which measurement of\n"
             "`lockbench capacity`. It reads their folders or files, by default all in results/.\n"
             "What was measured under other conditions is listed, and answers nothing.\n"
             "Exit codes: 0 some lock carries the load, 4 none does, 5 unknown.",
    .examples = examples,
    .args = args,
    .bytes = sizeof(struct wish),
    .run = run_plan,
};
