/* cmd_plan: `lockbench plan`: which locks would carry a load, by the capacities that were measured.
 * It reads results only and asks no server. */
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
#include "bench/cli/args.h"
#include "bench/cli/cli.h"
#include "bench/option/text.h"
#include "report/planner/planner.h"

#define DEEP_MAX 3 /* folders below results/ */
#define HOLD_MAX_NS (3600 * LB_S_NS)

enum {
    OPT_RATE,
    OPT_CLIENTS,
    OPT_HOLD,
    OPT_KEYS,
    OPT_SLO,
    OPT_LOCK,
    OPT_TOPOLOGY,
    OPT_TABLE,
    OPT_MD,
    OPT_JSON,
    OPT_HELP
};

static const struct args_option options[] = {
    [OPT_RATE] = {"rate", "RATE",
                  "requests of all clients together: 40/s, 2400/min; without it a closed loop"},
    [OPT_CLIENTS] = {"clients", "N", "clients"},
    [OPT_HOLD] = {"hold", "TIME", "how long a holder works: 12ms; default: as it was measured"},
    [OPT_KEYS] = {"keys", "N", "keys that the requests are spread over evenly; default 1"},
    [OPT_SLO] = {"slo", "PROMISE", "default: " SLO_BY_RATE "; without a rate " SLO_BY_CLIENTS},
    [OPT_LOCK] = {"lock", "LOCK", "this one only"},
    [OPT_TOPOLOGY] = {"topology", "NAME", "on this topology only"},
    [OPT_TABLE] = {"table", NULL, "for a terminal; the default"},
    [OPT_MD] = {"md", NULL, "Markdown"},
    [OPT_JSON] = {"json", NULL, "for machines"},
    [OPT_HELP] = {"help", NULL, "this text"},
    {0},
};

struct wish {
    const char **names; /* room for argc */
    int name_count;
    struct planner_ask ask;
    const char *slo_word;
    char slo[80];
    int format;
    bool help;
};

struct files {
    struct capacity **item;
    int count;
};

/* "40/s", "40", "2400/min", "1/h". */
static int read_rate(const char *text, double *ret, struct lb_err *err) {
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"s", 1}, {"min", 60}, {"h", 3600}};
    const char *slash = strchr(text, '/');
    char number[40];
    double seconds = slash ? 0 : 1, rate;
    for (size_t i = 0; slash && i < sizeof units / sizeof *units; i++) {
        if (strcmp(slash + 1, units[i].name) == 0) seconds = units[i].seconds;
    }
    if (!(seconds > 0) ||
        text_trim(text, slash ? (size_t)(slash - text) : strlen(text), number, sizeof number) != 0)
        return err_set(err, LB_EXIT_USAGE,
                       "plan: --rate '%.40s': expected a number a second, a minute or an hour: "
                       "40/s, 2400/min, 1/h",
                       text);
    if (text_real(number, 1e-6, 1e9, &rate, err) != 0) {
        err_prefix(err, "plan: --rate");
        return -1;
    }
    *ret = rate / seconds;
    return 0;
}

static int read_count(const char *option, const char *text, double *ret, struct lb_err *err) {
    int64_t count;
    if (text_int(text, 1, 1000000000, &count, err) != 0) {
        err_prefix(err, "plan: --%s", option);
        return -1;
    }
    *ret = (double)count;
    return 0;
}

static int read_option(int option, const char *value, struct wish *wish, struct lb_err *err) {
    int64_t hold_ns;
    switch (option) {
    case OPT_RATE:
        return read_rate(value, &wish->ask.rate, err);
    case OPT_CLIENTS:
        return read_count("clients", value, &wish->ask.clients, err);
    case OPT_KEYS:
        return read_count("keys", value, &wish->ask.keys, err);
    case OPT_HOLD:
        if (text_duration(value, 0, HOLD_MAX_NS, &hold_ns, err) != 0) {
            err_prefix(err, "plan: --hold");
            return -1;
        }
        wish->ask.hold_ns = (double)hold_ns;
        return 0;
    case OPT_SLO:
        wish->slo_word = value;
        return 0;
    case OPT_LOCK:
        wish->ask.lock = value;
        return 0;
    case OPT_TOPOLOGY:
        wish->ask.topology = value;
        return 0;
    case OPT_HELP:
        wish->help = true;
        return 0;
    default:
        wish->format = option;
        return 0;
    }
}

static int read_slo(struct wish *wish, struct lb_err *err) {
    struct stage_promise slo;
    const char *word = wish->slo_word;
    if (!word) word = isnan(wish->ask.rate) ? SLO_BY_CLIENTS : SLO_BY_RATE;
    if (slo_parse(word, &slo, err) != 0) {
        err_prefix(err, "plan: --slo");
        return -1;
    }
    wish->ask.metric = metric_name(slo.metric);
    wish->ask.quantile = slo.quantile;
    wish->ask.limit_ns = (double)slo.limit_ns;
    wish->ask.slo = slo_text(&slo, wish->slo, sizeof wish->slo);
    return 0;
}

static int read_args(int argc, char **argv, struct wish *wish, struct lb_err *err) {
    struct args args;
    const char *value;
    args_init(&args, argc, argv, options);
    for (int option; (option = args_next(&args, &value, err)) != ARGS_END;) {
        if (option == ARGS_WRONG) return -1;
        if (option == ARGS_OPERAND) {
            wish->names[wish->name_count++] = value;
        } else if (read_option(option, value, wish, err) != 0) {
            return -1;
        }
        if (wish->help) return 0;
    }
    return read_slo(wish, err);
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

/* No link (results/latest): it would count one twice. d_type would say so, but not on every file
 * system. */
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

/* Every capacity.json in a folder and below it. */
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
    for (int i = 0; i < wish->name_count; i++) {
        int before = files->count;
        const char *name = wish->names[i];
        if ((is_folder(name) ? add_below(files, name, DEEP_MAX, err)
                             : add_file(files, name, err)) != 0)
            return -1;
        if (files->count == before)
            return err_set(err, LB_EXIT_USAGE,
                           "plan: %s: there is no " CAPACITY_FILE " in it or below: "
                           "lockbench capacity makes one",
                           name);
    }
    if (wish->name_count > 0) return 0;
    if (home_results(results, sizeof results, err) != 0) return -1;
    if (is_folder(results) && add_below(files, results, DEEP_MAX, err) != 0) return -1;
    if (files->count > 0) return 0;
    return err_set(err, LB_EXIT_USAGE,
                   "plan: there is no " CAPACITY_FILE " below %s: run lockbench capacity LOCK "
                   "first",
                   results);
}

static int answer(const struct wish *wish, struct lb_err *err) {
    struct files files = {0};
    struct planner *planner = NULL;
    int code = -1;
    bool color = isatty(STDOUT_FILENO) && !getenv("NO_COLOR");
    if (read_files(wish, &files, err) == 0)
        planner = planner_make(files.item, files.count, &wish->ask, err);
    if (planner) {
        struct doc doc = {0};
        enum doc_format format = wish->format == OPT_MD ? DOC_MARKDOWN : DOC_TERMINAL;
        if (wish->format != OPT_JSON) planner_doc(planner, &doc);
        int failed = wish->format == OPT_JSON
                         ? planner_write_json(planner, stdout)
                         : doc_write_and_free(&doc, format, color, stdout, err);
        code = failed ? err_set(err, LB_EXIT_MACHINE, "plan: cannot write: is the disk full?")
                      : planner_exit(planner);
    }
    planner_free(planner);
    for (int i = 0; i < files.count; i++) capacity_free(files.item[i]);
    free(files.item);
    return code;
}

int cmd_plan(int argc, char **argv) {
    struct lb_err err = {0};
    struct wish wish = {
        .names = calloc((size_t)argc + 1, sizeof *wish.names),
        .format = OPT_TABLE,
        .ask = {.rate = NAN, .clients = NAN, .hold_ns = NAN, .keys = 1},
    };
    int code = 0;
    if (!wish.names) {
        err_set(&err, LB_EXIT_MACHINE, "out of memory");
    } else if (read_args(argc, argv, &wish, &err) == 0 && !wish.help) {
        code = answer(&wish, &err);
    }
    if (wish.help) {
        args_help(
            "plan [CAPACITY...] --rate RATE [--clients N] [--hold TIME] [--keys N] [--slo PROMISE]",
            "Which locks would carry a load, with what margin, by which measurement of `lockbench "
            "capacity`;\n"
            "folders or files of those, default: all below results/. What no measurement supports is "
            "refused,\n"
            "with the command that would settle it. Exit codes: 0 some lock carries it, 4 none does, 5 "
            "unknown.",
            options, stdout);
    }
    free(wish.names);
    return err.code ? args_fail(&err) : code;
}
