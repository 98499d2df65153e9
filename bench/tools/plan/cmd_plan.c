/* cmd_plan: `lockbench plan`: which locks carry a load, by measured capacities. It reads results
 * only and asks no server. */
#include <glob.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bench/base/home.h"
#include "bench/cli/cli.h"
#include "bench/cli/terminal.h"
#include "bench/slo/slo.h"
#include "report/capacity/carry.h"
#include "results/format/tree.h"

#define COUNT_MAX 1000000000

enum format { FORMAT_TABLE, FORMAT_MD, FORMAT_JSON };

struct typed {
    struct arg_list names;
    double rate;     /* a second; 0 = not given */
    int64_t clients; /* 0 = not given */
    const char *slo_word;
    char slo[80]; /* as capacity.json has it */
    enum format format;
};

struct files {
    struct capacity **item;
    int count;
};

static const struct arg args[] = {
    {{"", ARG_LIST, offsetof(struct typed, names), .help = NULL}, "CAPACITY"},
    {{"rate", ARG_RATE, offsetof(struct typed, rate), .min = 1e-6, .max = 1e9,
      .help = "requests of all clients together: 40/s"},
     "RATE"},
    {{"clients", LB_OPT_INT, offsetof(struct typed, clients), .min = 1, .max = COUNT_MAX,
      .help = "clients of a closed loop; with --rate only measurements with this pool answer"},
     "-c N"},
    {{"slo", LB_OPT_TEXT, offsetof(struct typed, slo_word),
      .help = "default: " SLO_BY_RATE "; without a rate " SLO_BY_CLIENTS},
     "PROMISE"},
    {{"md", ARG_PICK, offsetof(struct typed, format), .min = FORMAT_MD, .help = "Markdown"}, NULL},
    {{"json", ARG_PICK, offsetof(struct typed, format), .min = FORMAT_JSON, .help = "for machines"},
     NULL},
    {{0}, NULL},
};

static int fill_ask(struct typed *typed, struct carry_ask *ret, struct lb_err *err) {
    struct stage_promise slo;
    bool by_rate = typed->rate > 0;
    double clients = typed->clients > 0 ? (double)typed->clients : NAN;
    if (!by_rate && isnan(clients))
        return err_set(err, LB_EXIT_USAGE,
                       "plan: neither a rate nor clients: say --rate, --clients or both");
    if (!typed->slo_word) typed->slo_word = by_rate ? SLO_BY_RATE : SLO_BY_CLIENTS;
    if (slo_parse(typed->slo_word, &slo, err) != 0) {
        err_prefix(err, "plan: --slo");
        return -1;
    }
    slo_text(&slo, typed->slo, sizeof typed->slo);
    *ret = (struct carry_ask){.by_rate = by_rate,
                              .load = by_rate ? typed->rate : clients,
                              .clients = by_rate ? clients : NAN,
                              .slo = typed->slo};
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

/* Adds a capacity, or those in the folders of a folder. A link, as results/latest, may add one twice, which does no harm:
 * it has one row. */
static int add_path(struct files *files, const char *path, struct lb_err *err) {
    char pattern[PATH_MAX];
    glob_t found;
    struct stat status;
    bool is_folder = stat(path, &status) == 0 && S_ISDIR(status.st_mode);
    if (!is_folder || tree_is(path, CAPACITY_FILE)) return add_file(files, path, err);
    snprintf(pattern, sizeof pattern, "%s/*/" CAPACITY_FILE, path);
    int failed = glob(pattern, 0, NULL, &found);
    if (failed)
        return err_set(err, LB_EXIT_USAGE,
                       "plan: %s: there is no " CAPACITY_FILE " in it or in its folders: lockbench "
                       "capacity makes one",
                       path);
    for (size_t i = 0; i < found.gl_pathc && !failed; i++)
        failed = add_file(files, found.gl_pathv[i], err);
    globfree(&found);
    return failed;
}

static int print_plan(const struct carry *carry, enum format format, struct lb_err *err) {
    struct doc doc = {0};
    if (format == FORMAT_JSON) return carry_json(carry, stdout, err);
    carry_doc(carry, &doc);
    return doc_write_and_free(&doc, format == FORMAT_MD ? DOC_MARKDOWN : DOC_TERMINAL,
                              terminal_has_color(stdout), stdout, err);
}

static int run_plan(void *values, const struct args *given, struct lb_err *err) {
    struct typed *typed = values;
    char results[PATH_MAX];
    struct carry_ask ask;
    struct files files = {0};
    struct carry *carry = NULL;
    int code = -1, failed = fill_ask(typed, &ask, err);
    (void)given;
    for (int i = 0; i < typed->names.count && !failed; i++)
        failed = add_path(&files, typed->names.item[i], err);
    if (!failed && typed->names.count == 0) {
        failed = home_results(results, sizeof results, err);
        if (!failed) failed = add_path(&files, results, err);
    }
    if (!failed) carry = carry_new(files.item, files.count, &ask, err);
    if (carry && print_plan(carry, typed->format, err) == 0) code = carry_exit(carry);
    carry_free(carry);
    for (int i = 0; i < files.count; i++) capacity_free(files.item[i]);
    free(files.item);
    return code;
}

static const struct example examples[] = {
    {"lockbench plan --rate 40/s --slo 'acquire_due.p99<=100ms'", "by all capacities in results/"},
    {NULL, NULL},
};

const struct command command_plan = {
    .name = "plan",
    .summary = "which locks carry a load, by the capacities that were measured",
    .usage = "plan [CAPACITY...] --rate RATE | --clients N [--slo PROMISE]",
    .about =
        "Says which locks carry a load, with what margin, and by which measurement of\n"
        "`lockbench capacity`. It reads their folders or files, by default all in results/.\n"
        "What was measured with another promise or another number of clients is listed, and answers\n"
        "nothing. Each row names the hold and the keys that it was measured with.\n"
        "Exit codes: 0 some lock carries the load, 4 none does, 5 unknown.",
    .examples = examples,
    .args = args,
    .bytes = sizeof(struct typed),
    .run = run_plan,
};
