/* cmd_doctor: `lockbench doctor`: prints what is missing on this machine, and the commands that
 * install it; with --url whether servers of the user's own can be reached. It changes nothing and
 * starts no server. Its exit code says whether every lock can run. */
#include <jansson.h>
#include <limits.h>
#include <string.h>

#include "bench/base/home.h"
#include "bench/base/output.h"
#include "bench/cli/cli.h"
#include "bench/cli/doctor.h"
#include "bench/cli/terminal.h"
#include "bench/cli/urls.h"
#include "drivers/registry.h"
#include "report/doc/doc.h"

#define SETS_MAX 64

struct wish {
    struct urls urls;
    struct arg_list sets;
    bool json;
};

static const struct arg args[] = {
    {{"url", &type_url, offsetof(struct wish, urls),
      .help =
          "only ask this server whether it lets lockbench in: redis=redis://HOST:6379; repeatable"},
     "BACKEND=URL"},
    {{"set", ARG_LIST, offsetof(struct wish, sets), .max = SETS_MAX,
      .help = "an option of a backend, e.g. redis.tls_ca=ca.pem; repeatable"},
     "BACKEND.KEY=VALUE"},
    {{"json", ARG_FLAG, offsetof(struct wish, json), .help = "the same for machines"}, NULL},
    {{0}, NULL},
};

static const char *const status_names[] = {"ok", "warn", "missing"};

struct ready {
    int locks, of;
    bool all;   /* nothing is missing */
    bool whole; /* the machine was examined, and not only the servers of --url */
};

static struct ready count_ready(struct available *available, const struct doctor *checks) {
    struct ready ready = {.all = true};
    const char *install;
    for (; registry_locks()[ready.of]; ready.of++) {
        ready.locks += !available_lock(available, registry_locks()[ready.of], &install);
    }
    for (int i = 0; i < checks->count; i++) ready.all &= checks->item[i].status != DOCTOR_MISSING;
    return ready;
}

static void add_doctor_findings(const struct doctor *checks, const struct ready *ready,
                                struct doc *doc) {
    static const enum tone tones[] = {TONE_GOOD, TONE_WARN, TONE_BAD};
    static const struct doc_column columns[] = {{.title = "state"},
                                                {.title = "check"},
                                                {.title = "found here", .words = true},
                                                {.title = "what to do", .below = true},
                                                {0}};
    doc_table(doc, NULL, NULL);
    doc_columns(doc, columns);
    for (int i = 0; i < checks->count; i++) {
        const struct doctor_finding *check = &checks->item[i];
        doc_row(doc, DOC_ROW);
        doc_cell(doc, "%s", status_names[check->status]);
        doc_set_tone(doc, tones[check->status]);
        doc_cell(doc, "%s", check->name);
        doc_cell(doc, "%s", check->detail);
        doc_cell(doc, "%s", "");
        if (*check->fix) doc_command(doc, "do", check->fix);
    }
    doc_end(doc);
    if (ready->whole)
        doc_say(doc, ready->all ? TONE_GOOD : TONE_WARN, "%d of %d locks can run here.",
                ready->locks, ready->of);
}

static int print_doctor_json(const struct doctor *checks, const struct ready *ready,
                             struct lb_err *err) {
    json_t *array = json_array();
    for (int i = 0; i < checks->count; i++) {
        const struct doctor_finding *check = &checks->item[i];
        json_array_append_new(array,
                              json_pack("{s:s, s:s, s:s, s:s?}", "name", check->name, "status",
                                        status_names[check->status], "detail", check->detail, "fix",
                                        *check->fix ? check->fix : NULL));
    }
    json_t *root = json_pack("{s:b, s:i, s:i, s:o}", "ok", ready->all, "locks_ready", ready->locks,
                             "locks", ready->of, "checks", array);
    return output_json(root, JSON_INDENT(2), stdout, "what was found", err);
}

static int examine(struct wish *wish, struct arena *arena, struct lb_err *err) {
    struct available available = {0};
    struct doctor checks = {0};
    char results[PATH_MAX];
    if (home_results(results, sizeof results, err)) return -1;
    if (available_init(&available, NULL, err)) return -1;
    if (urls_ready(&wish->urls, arena, &available, err) ||
        urls_options(&wish->urls, &wish->sets, arena, err)) {
        available_done(&available);
        return -1;
    }
    bool whole = wish->urls.typed == 0;
    if (whole) doctor_backends(&checks, &available);
    if (whole) doctor_machine(&checks, results);
    for (int i = 0; i < wish->urls.count; i++) doctor_url(&checks, &wish->urls.item[i]);
    struct ready ready = count_ready(&available, &checks);
    ready.whole = whole;
    available_done(&available);
    if (!wish->json) {
        struct doc doc = {0};
        add_doctor_findings(&checks, &ready, &doc);
        if (doc_write_and_free(&doc, DOC_TERMINAL, terminal_has_color(stdout), stdout, err))
            return -1;
    } else if (print_doctor_json(&checks, &ready, err)) {
        return -1;
    }
    return ready.all ? LB_EXIT_OK : LB_EXIT_MACHINE;
}

static int run_doctor(void *values, const struct args *given, struct lb_err *err) {
    return examine(values, given->arena, err);
}

static const struct example examples[] = {
    {"lockbench doctor", "what is missing, and what to type"},
    {"lockbench doctor --url redis=env:REDIS_URL", "whether this server lets lockbench in"},
    {NULL, NULL},
};

const struct command command_doctor = {
    .name = "doctor",
    .summary = "what this machine lacks, and what to type",
    .usage = "doctor [OPTIONS]",
    .about =
        "Says what is missing on this machine to run every lock, what would distort figures, and what to\n"
        "type; with --url only whether servers of your own let lockbench in. Exit code 0 if\n"
        "nothing is missing, else 2.",
    .examples = examples,
    .args = args,
    .bytes = sizeof(struct wish),
    .run = run_doctor,
};
