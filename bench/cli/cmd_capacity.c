/* cmd_capacity: `lockbench capacity`: the greatest load under which a lock keeps a promise. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/base/home.h"
#include "bench/capacity/seek.h"
#include "bench/capacity/slo.h"
#include "bench/cli/args.h"
#include "bench/cli/capacity_show.h"
#include "bench/cli/cli.h"
#include "bench/cli/file_limit.h"
#include "bench/cli/interrupt.h"
#include "bench/cli/progress.h"
#include "bench/cli/shell.h"
#include "bench/cli/urls.h"
#include "bench/option/text.h"
#include "report/capacity/capacity_doc.h"

#define SETS_MAX 128
#define LOCKS_MAX_BYTES 4000
#define RATE_MOST 200000
#define CLIENTS_MOST 1000
#define TIME_DEFAULT_NS (100 * LB_S_NS)
#define TIME_MIN_NS (20 * LB_S_NS)
#define TIME_MAX_NS (24 * 3600 * LB_S_NS)

enum {
    OPT_SLO,
    OPT_CLIENTS,
    OPT_HOLD,
    OPT_KEYS,
    OPT_MOST,
    OPT_TIME,
    OPT_SET,
    OPT_URL,
    OPT_OUT,
    OPT_JSON,
    OPT_MD,
    OPT_HELP
};

static const struct args_option options[] = {
    [OPT_SLO] = {"slo", "PROMISE", "default: " SLO_BY_RATE "; with --clients " SLO_BY_CLIENTS},
    [OPT_CLIENTS] = {"clients", NULL,
                     "search the most clients of a closed loop, not the greatest rate"},
    [OPT_HOLD] = {"hold", "TIME", "how long a holder works; default 1ms"},
    [OPT_KEYS] = {"keys", "KEYS",
                  "default 1, a hot key; own, or many, asks for the server's capacity"},
    [OPT_MOST] = {"most", "LOAD", "search no further; default 200000/s, or 1000 clients"},
    [OPT_TIME] =
        {"time", "TIME",
         "for each lock's probes; default 100s; half as much again at most where a busy machine "
         "spoils probes"},
    [OPT_SET] = {"set", "SECTION.KEY=VALUE",
                 "set a key of the workload (capacity), or of a lock's section; repeatable"},
    [OPT_URL] = {"url", "BACKEND=URL", "use a server that runs already; repeatable"},
    [OPT_OUT] = {"out", "DIR", "the folder; default: results/<time>-capacity"},
    [OPT_JSON] = {"json", NULL, "print capacity.json"},
    [OPT_MD] = {"md", NULL, "Markdown"},
    [OPT_HELP] = {"help", NULL, "this text"},
    {0},
};

struct wish {
    char locks[LOCKS_MAX_BYTES]; /* with commas between */
    const char *slo_word, *out;
    struct stage_promise slo;
    char hold[200], keys[200], clients[64]; /* as --set takes them */
    const char *sets[SETS_MAX + 4];
    int set_count;
    struct urls urls;
    bool by_clients, json, md, help;
    double most; /* 0 = not given */
    int64_t time_ns;
};

/* What the search sets itself. */
static int check_set(const char *text, bool by_clients, struct lb_err *err) {
    static const char *const own[] = {"load.arrival", "load.rates",   "load.sweep",
                                      "run.duration", "run.repeat",   "run.controls",
                                      "run.steady",   "acquire.mode", "acquire.readers"};
    size_t length = strcspn(text, "= ");
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        if (strlen(own[i]) == length && strncmp(text, own[i], length) == 0)
            return err_set(err, LB_EXIT_USAGE,
                           "capacity: --set %.60s: the search needs that itself", text);
    }
    if (by_clients && length == strlen("load.clients") &&
        strncmp(text, "load.clients", length) == 0)
        return err_set(err, LB_EXIT_USAGE,
                       "capacity: --set %.60s: the search changes that; --most ends it", text);
    return 0;
}

static int add_locks(struct wish *wish, const char *word, struct lb_err *err) {
    size_t used = strlen(wish->locks);
    if (used + strlen(word) + 2 > sizeof wish->locks)
        return err_set(err, LB_EXIT_USAGE, "capacity: too many locks");
    snprintf(wish->locks + used, sizeof wish->locks - used, "%s%s", used ? "," : "", word);
    return 0;
}

static int read_option(int option, const char *value, struct wish *wish, struct lb_err *err) {
    switch (option) {
    case OPT_SLO:
        wish->slo_word = value;
        return 0;
    case OPT_CLIENTS:
        wish->by_clients = true;
        return 0;
    case OPT_HOLD:
        snprintf(wish->hold, sizeof wish->hold, "load.hold=%.180s", value);
        return 0;
    case OPT_KEYS:
        snprintf(wish->keys, sizeof wish->keys, "load.keys=%.180s", value);
        return 0;
    case OPT_MOST:
        if (text_real(value, 1, 1e7, &wish->most, err) == 0) return 0;
        err_prefix(err, "capacity: --most");
        return -1;
    case OPT_TIME:
        if (text_duration(value, TIME_MIN_NS, TIME_MAX_NS, &wish->time_ns, err) == 0) return 0;
        err_prefix(err, "capacity: --time");
        return -1;
    case OPT_SET:
        if (wish->set_count == SETS_MAX)
            return err_set(err, LB_EXIT_USAGE, "capacity: at most %d --set", SETS_MAX);
        wish->sets[wish->set_count++] = value;
        return 0;
    case OPT_URL:
        return urls_add(&wish->urls, value, err);
    case OPT_OUT:
        if (!*value) return err_set(err, LB_EXIT_USAGE, "capacity: --out needs a folder's name");
        wish->out = value;
        return 0;
    case OPT_JSON:
        wish->json = true;
        return 0;
    case OPT_MD:
        wish->md = true;
        return 0;
    default:
        wish->help = true;
        return 0;
    }
}

/* What the options must be to each other. */
static int complete(struct wish *wish, struct lb_err *err) {
    if (!wish->slo_word) wish->slo_word = wish->by_clients ? SLO_BY_CLIENTS : SLO_BY_RATE;
    if (slo_parse(wish->slo_word, &wish->slo, err) != 0) {
        err_prefix(err, "capacity: --slo");
        return -1;
    }
    if (wish->by_clients && wish->slo.metric != METRIC_ACQUIRE)
        return err_set(err, LB_EXIT_USAGE,
                       "capacity: --slo: in a closed loop (--clients) nothing falls due: "
                       "promise acquire");
    if (!wish->by_clients && wish->slo.metric != METRIC_ACQUIRE_DUE)
        return err_set(err, LB_EXIT_USAGE,
                       "capacity: --slo: who arrives at a rate waits from when it was due: "
                       "promise acquire_due; acquire is for --clients");
    if (!*wish->locks)
        return err_set(err, LB_EXIT_USAGE,
                       "capacity: name a lock, or several; `lockbench list` has them");
    for (int i = 0; i < wish->set_count; i++) {
        if (check_set(wish->sets[i], wish->by_clients, err) != 0) return -1;
    }
    if (wish->most <= 0) wish->most = wish->by_clients ? CLIENTS_MOST : RATE_MOST;
    if (wish->by_clients &&
        (wish->most > PLAN_CLIENTS_MAX || wish->most != (double)(int)wish->most))
        return err_set(err, LB_EXIT_USAGE,
                       "capacity: --most %g: clients are a whole number up to %d", wish->most,
                       PLAN_CLIENTS_MAX);
    if (*wish->hold) wish->sets[wish->set_count++] = wish->hold;
    if (*wish->keys) wish->sets[wish->set_count++] = wish->keys;
    /* What the plan is checked by must be of the kind that is searched: think times go with a
     * closed loop only, and the workload's own rate says nothing here. */
    wish->sets[wish->set_count++] =
        wish->by_clients ? "load.arrival=closed" : "load.arrival=poisson:1/s";
    if (wish->by_clients) {
        snprintf(wish->clients, sizeof wish->clients, "load.clients=%d", (int)wish->most);
        wish->sets[wish->set_count++] = wish->clients;
    }
    return 0;
}

static int read_args(int argc, char **argv, struct wish *wish, struct lb_err *err) {
    struct args args;
    const char *value = NULL;
    args_init(&args, argc, argv, options);
    for (int option; (option = args_next(&args, &value, err)) != ARGS_END;) {
        if (option == ARGS_WRONG) return -1;
        if (option == ARGS_OPERAND ? add_locks(wish, value, err)
                                   : read_option(option, value, wish, err))
            return -1;
        if (wish->help) return 0;
    }
    return complete(wish, err);
}

/* A plan has one number of clients here, and locks that are acquired one attempt after another. */
static int check_plan(const struct plan *plan, struct lb_err *err) {
    if (plan->clients_count > 1)
        return err_set(err, LB_EXIT_USAGE,
                       "capacity: load.clients is the pool of clients: one number, not a ladder");
    for (int i = 0; i < plan->lock_count; i++) {
        const struct lb_lock *lock = plan->locks[i].lock;
        if (lock->primitive == LB_LATCH)
            return err_set(err, LB_EXIT_USAGE,
                           "capacity: %s is a latch: its clients come together, not at a rate",
                           lock->name);
    }
    return plan->lock_count > 0
               ? 0
               : err_set(err, LB_EXIT_USAGE, "capacity: no lock of these can run here");
}

static int print_answer(const struct wish *wish, const char *folder, struct lb_err *err) {
    struct capacity *capacity = capacity_read(folder, err);
    if (!capacity) return -1;
    bool failed = false;
    if (wish->json) {
        failed = json_dumpf(capacity->root, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(10)) != 0;
        putchar('\n');
    } else {
        struct doc doc = {0};
        bool color = isatty(STDOUT_FILENO) && !getenv("NO_COLOR");
        capacity_doc(capacity, &doc);
        failed = doc_write_and_free(&doc, wish->md ? DOC_MARKDOWN : DOC_TERMINAL, color, stdout,
                                    NULL) != 0;
    }
    capacity_free(capacity);
    if (failed || fflush(stdout) != 0 || ferror(stdout))
        return err_set(err, LB_EXIT_MACHINE, "could not print the answer; it is in %s", folder);
    return 0;
}

static int run_search(const struct wish *wish, const struct plan *plan, const char *command,
                      struct lb_err *err) {
    char results[512], topologies[512];
    struct progress progress;
    struct run_end end;
    struct lb_err lost = {0};
    if (home_results(results, sizeof results, err) != 0) return -1;
    if (home_path("compose/local", topologies, sizeof topologies, err) != 0) return -1;
    if (file_limit_raise(plan->clients[0], err) != 0) return -1;
    progress_init(&progress);
    struct seek_ask seek_ask = {.plan = plan,
                                .slo = wish->slo,
                                .by_clients = wish->by_clients,
                                .most = wish->most,
                                .budget_ns = wish->time_ns,
                                .version = LOCKBENCH_VERSION,
                                .command = command,
                                .interrupts = interrupt_watch(),
                                .news = capacity_show_probe,
                                .news_arg = &progress};
    struct seek *seek = seek_new(&seek_ask, err);
    if (!seek) return -1;
    struct run_ask ask = {.plan = plan,
                          .urls = wish->urls.item,
                          .url_count = wish->urls.count,
                          .out = wish->out,
                          .results = results,
                          .topologies = topologies,
                          .version = LOCKBENCH_VERSION,
                          .command = command,
                          .interrupts = interrupt_watch(),
                          .next = seek_next,
                          .took = seek_took,
                          .next_arg = seek,
                          .news = progress_news,
                          .done = progress_nothing,
                          .say = progress_say,
                          .arg = &progress};
    int code = run_execute(&ask, &end, err);
    progress_end(&progress);
    if (code == 0) {
        code = end.exit_code;
        if (seek_end(seek, code == LB_EXIT_OK || code == LB_EXIT_VIOLATED ? NULL : end.why,
                     &lost) != 0) {
            fprintf(stderr, "lockbench: %s\n", lost.text);
            if (code == LB_EXIT_OK) code = LB_EXIT_MACHINE;
        }
        if (end.stages > 0 && end.saved[0] && print_answer(wish, end.saved, &lost) != 0) {
            fprintf(stderr, "lockbench: %s\n", lost.text);
            if (code == LB_EXIT_OK) code = LB_EXIT_MACHINE;
        }
        if (end.saved[0]) fprintf(stderr, "saved in %s\n", end.saved);
        /* Once more behind a table; else it has just been said. */
        if (end.exit_code && (end.stages > 0 || strcmp(end.why, progress.said) != 0))
            fprintf(stderr, "lockbench: %s\n", end.why);
        int unanswered = seek_unanswered(seek);
        if (code == LB_EXIT_OK && unanswered > 0) {
            fprintf(stderr, "lockbench: no answer with confidence for %d of %d locks\n", unanswered,
                    plan->lock_count);
            code = LB_EXIT_INCONCLUSIVE;
        }
    }
    seek_free(seek);
    return code;
}

int cmd_capacity(int argc, char **argv) {
    struct lb_err err = {0};
    struct wish wish = {.time_ns = TIME_DEFAULT_NS};
    char workloads[512], topologies[512], *command = NULL;
    struct available available = {0};
    struct plan *plan = NULL;
    int result = -1;
    if (read_args(argc, argv, &wish, &err) != 0) goto out;
    if (wish.help) {
        args_help(
            "capacity LOCK... [OPTIONS]",
            "Searches the greatest rate of requests at random (Poisson) under which a lock keeps a promise, "
            "or "
            "the most clients,\n"
            "on real servers that it starts itself. Exit codes: 0 an answer for each lock, 5 not for each, 1 "
            "usage,\n2 a server or the machine, 3 exclusion violated, 130 interrupted (what was found is "
            "saved).",
            options, stdout);
        return LB_EXIT_OK;
    }
    if (home_path("workloads", workloads, sizeof workloads, &err) != 0) goto out;
    if (home_path("compose/local", topologies, sizeof topologies, &err) != 0) goto out;
    if (available_init(&available, topologies, &err) != 0) goto out;
    urls_tell(&wish.urls, &available);
    struct plan_wish plan_wish = {.workload = "capacity",
                                  .folder = workloads,
                                  .locks = wish.locks,
                                  .sets = wish.sets,
                                  .set_count = wish.set_count,
                                  .why_not = available_for_plan,
                                  .why_not_context = &available};
    plan = plan_load(&plan_wish, &err);
    if (!plan || check_plan(plan, &err) != 0) goto out;
    command = shell_command(argc, argv);
    result = command ? run_search(&wish, plan, command, &err)
                     : err_set(&err, LB_EXIT_MACHINE, "out of memory");
out:
    free(command);
    plan_free(plan);
    available_done(&available);
    return result < 0 ? args_fail(&err) : result;
}
