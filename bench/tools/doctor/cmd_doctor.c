/* cmd_doctor: `lockbench doctor`: prints what is missing on this machine or would distort figures, and the
 * commands that mend it; with --url whether locks work on servers of the user's own. It leaves nothing and
 * starts no server. Its exit code says whether every lock can run. */
#include <jansson.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/base/clock.h"
#include "bench/base/home.h"
#include "bench/base/output.h"
#include "bench/cli/available.h"
#include "bench/cli/cli.h"
#include "bench/cli/terminal.h"
#include "bench/cli/urls.h"
#include "bench/conform/conform_trial.h"
#include "bench/place/guest.h"
#include "bench/place/place.h"
#include "bench/stage/machine.h"
#include "drivers/registry.h"
#include "drivers/url.h"
#include "report/doc/doc.h"

enum doctor_status {
    DOCTOR_OK,
    DOCTOR_WARN,   /* runs work, but figures or sizes suffer */
    DOCTOR_MISSING /* a lock, or every run, can't work */
};

struct doctor_finding {
    enum doctor_status status;
    char name[48];
    char detail[800];
    char fix[200]; /* what to type; "" = nothing */
};

#define DOCTOR_FINDINGS_MAX 96

struct doctor {
    struct doctor_finding item[DOCTOR_FINDINGS_MAX];
    int count, code; /* code: of the first URL that failed; 0: none did */
};

/* Adds a check; the caller fills fix. */
__attribute__((format(printf, 4, 5))) static struct doctor_finding *
add_doctor_check(struct doctor *checks, enum doctor_status status, const char *name,
                 const char *format, ...) {
    /* findings beyond DOCTOR_FINDINGS_MAX are written here and lost */
    static struct doctor_finding spare;
    struct doctor_finding *check =
        checks->count < DOCTOR_FINDINGS_MAX ? &checks->item[checks->count++] : &spare;
    *check = (struct doctor_finding){.status = status};
    snprintf(check->name, sizeof check->name, "%s", name);
    va_list args;
    va_start(args, format);
    vsnprintf(check->detail, sizeof check->detail, format, args);
    va_end(args);
    return check;
}

#define FIX(check, ...) snprintf((check)->fix, sizeof(check)->fix, __VA_ARGS__)

/* A missing client library is found when the program is built. */
static void fix_install(struct doctor_finding *check, const char *install, bool then_make) {
    const char *as_root = geteuid() == 0 ? "" : "sudo ";
    if (install && access("/usr/bin/apt-get", X_OK) != 0)
        FIX(check, "install what Debian calls %s%s", install, then_make ? ", then make" : "");
    else if (install)
        FIX(check, "%sapt-get install %s%s", as_root, install, then_make ? " && make" : "");
}

/* Adds a check for each topology, besides a backend's usual one, whose servers are missing. */
static void check_topologies(struct doctor *checks, struct available *available) {
    for (int i = 0; registry_locks()[i]; i++) {
        const struct lb_backend *backend = registry_locks()[i]->backend;
        const char *const *topology = lb_topologies(registry_locks()[i]);
        if (registry_locks()[i]->needs) continue; /* other backends' servers */
        for (; topology && *topology && !lb_unavailable(backend); topology++) {
            const char *install,
                *reason = available_why_not(available, backend, *topology, NULL, &install);
            char name[48];
            snprintf(name, sizeof name, "topology %.37s", *topology);
            bool seen = strcmp(*topology, backend->topologies[0]) == 0;
            for (int c = 0; c < checks->count; c++) seen |= strcmp(checks->item[c].name, name) == 0;
            if (!reason || seen) continue;
            fix_install(add_doctor_check(checks, DOCTOR_MISSING, name, "%s", reason), install,
                        false);
        }
    }
}

static void doctor_backends(struct doctor *checks, struct available *available) {
    for (int i = 0; registry_backends()[i]; i++) {
        const struct lb_backend *backend = registry_backends()[i];
        const char *install, *reason = available_why_not(available, backend, NULL, NULL, &install);
        char name[48];
        snprintf(name, sizeof name, "backend %.38s", backend->name);
        if (!reason) {
            const struct topo_info *info =
                backend->topologies ? available_info(available, backend->topologies[0]) : NULL;
            add_doctor_check(checks, DOCTOR_OK, name, "%s",
                             info ? info->summary : "embedded, needs no server");
            continue;
        }
        fix_install(add_doctor_check(checks, DOCTOR_MISSING, name, "%s", reason), install,
                    lb_unavailable(backend));
    }
    check_topologies(checks, available);
}

/* False if the server can't be reached. */
static bool doctor_url(struct doctor *checks, const struct place_url *at) {
    char name[48], url[300], text[600];
    struct lb_err err = {0};
    snprintf(name, sizeof name, "url %.38s", at->backend->name);
    url_public(at->url, url, sizeof url);
    bool unfit = false;
    bool reached = guest_look(at, text, sizeof text, &unfit, &err) == 0;
    if (reached)
        add_doctor_check(checks, unfit ? DOCTOR_WARN : DOCTOR_OK, name, "%s: %s", url, text);
    else
        add_doctor_check(checks, DOCTOR_MISSING, name, "%s: %s", url, err.text);
    if (checks->code == 0) checks->code = err.code;
    return reached;
}

/* ---- a lock at a server of the user's own ---- */

#define PATIENCE_NS (10 * LB_S_NS)
#define WAIT_NS (100 * LB_MS_NS) /* of the second client */

static struct trial_key key;

/* Ends the script with the server's own words. */
static bool gives(struct actor *client, const char *doing, enum lb_outcome got,
                  enum lb_outcome wanted) {
    const struct lb_err *err = &client->session.err;
    if (got == wanted || trial_failed(client->trial)) return got == wanted;
    trial_fail(client->trial, "%s: %s", doing, err->code ? err->text : lb_outcome_name(got));
    return false;
}

static void use_lock(struct trial *trial) {
    const struct lb_lock *lock = trial->lock->lock;
    bool holds = lock->primitive != LB_OPTIMISTIC;
    struct actor *one = actor_new(trial);
    if (trial_failed(trial)) return;
    actor_use_key(one, &key);
    if (!gives(one, "taking", actor_acquire(one, &key, trial_soon()), LB_OK)) return;
    if (holds && (lock->caps & LB_CAP_WAIT)) {
        struct actor *other = actor_new(trial);
        enum lb_outcome outcome = actor_acquire(other, &key, lb_now() + WAIT_NS);
        if (!gives(other, "waiting", outcome, LB_TIMEOUT)) return;
    }
    if (lock->algorithm->renew && !gives(one, "renewing", actor_renew(one, trial->lease_ns), LB_OK))
        return;
    gives(one, "freeing", actor_release(one), LB_OK);
}

static bool remove_it(void *arg, const char *what, const char *name) {
    (void)arg, (void)what, (void)name;
    return true;
}

/* Takes a key of its own with the lock, lets a second client wait for it, renews and frees it, and removes it. guests:
 * remove the tables and buckets that this made. 0, or -1 with err: what the server refused, and what grants it. */
static int try_lock(const struct plan *plan, const struct plan_lock *lock,
                    const struct place_url *at, struct guests *guests, struct lb_err *err) {
    struct place_url here = *at;
    struct lb_err left = {0};
    char name[PLAN_KEY_PREFIX_MAX + 64];
    here.options = lock->backend_options;
    struct place *place = guests_arrive(guests, &here, plan, err) == 0
                              ? place_open(&(struct place_ask){.lock = lock, .url = at->url}, err)
                              : NULL;
    if (!place) return -1;
    struct trial_key marked = trial_key();
    int len = snprintf(name, sizeof name, "%s%s", plan->key_prefix, marked.name);
    key = trial_key_named(name, (size_t)len);
    struct trial trial = {.lock = lock, .place = place};
    trial_patience_ns = PATIENCE_NS;
    trial_run(&trial, use_lock);
    place_close(place);
    struct lb_cleaning cleaning = {.scope = LB_CLEAN_KEY, .name = name, .found = remove_it};
    int failed = guest_clean(&here, &cleaning, &left);
    if (trial.failure[0])
        return err_set(err, LB_EXIT_MACHINE, "%s%s%s", trial.failure,
                       failed ? "; and what it took could not be removed: " : "", left.text);
    return failed ? err_set(err, LB_EXIT_MACHINE, "removing: %s", left.text) : 0;
}

/* Tries the plan's locks of the server. */
static void doctor_locks(struct doctor *checks, const struct plan *plan,
                         const struct place_url *at) {
    struct guests guests = {0};
    json_t *untold = json_array();
    for (int i = 0; i < plan->lock_count; i++) {
        const struct plan_lock *lock = &plan->locks[i];
        struct lb_err err = {0};
        if (lock->lock->backend != at->backend) continue;
        if (try_lock(plan, lock, at, &guests, &err) == 0)
            add_doctor_check(checks, DOCTOR_OK, lock->lock->name, "taken and freed");
        else
            add_doctor_check(checks, DOCTOR_MISSING, lock->lock->name, "%s", err.text);
    }
    guests_leave(&guests, untold);
    json_decref(untold);
}

/* Adds the properties that spoil measurements, from the table that each result has in its
 * environment. */
static void doctor_machine(struct doctor *checks) {
    for (const struct machine_check *check = machine_checks; check->name; check++) {
        struct machine_fact fact = machine_look(check, "");
        struct doctor_finding *finding = add_doctor_check(
            checks, fact.spoils ? DOCTOR_WARN : DOCTOR_OK, check->name, "%s", fact.detail);
        if (fact.spoils) FIX(finding, "%s", fact.advice);
        json_decref(fact.value);
    }
}

#define SETS_MAX 64
#define LOCKS_MAX 64

struct typed {
    struct urls urls;
    struct arg_list locks, sets;
    bool json, full;
};

static const struct arg args[] = {
    {{"", ARG_LIST, offsetof(struct typed, locks), .max = LOCKS_MAX, .help = NULL}, "LOCK"},
    {{"lock", ARG_LIST, offsetof(struct typed, locks), .help = "the same as LOCK"}, "A,B"},
    {{"url", &type_url, offsetof(struct typed, urls),
      .help = "only try locks on this server, with a key of their own; repeatable"},
     "BACKEND=URL"},
    {{"set", ARG_LIST, offsetof(struct typed, sets), .max = SETS_MAX,
      .help = "as for run, e.g. redis.tls_ca=ca.pem, load.key_prefix=PREFIX; repeatable"},
     "SECTION.KEY=VALUE"},
    {{"full", ARG_FLAG, offsetof(struct typed, full), .help = "also what is as it should be"},
     NULL},
    {{"json", ARG_FLAG, offsetof(struct typed, json), .help = "all of it, for machines"}, NULL},
    {{0}, NULL},
};

static const char *const status_names[] = {"ok", "warn", "missing"};

struct ready {
    int locks, of;
    int fine;   /* findings that are ok */
    bool all;   /* nothing is missing */
    bool whole; /* the machine was examined, and not only the servers of --url */
};

static struct ready count_ready(struct available *available, const struct doctor *checks) {
    struct ready ready = {.all = true};
    const char *install;
    for (; registry_locks()[ready.of]; ready.of++) {
        ready.locks += !available_lock(available, registry_locks()[ready.of], &install);
    }
    for (int i = 0; i < checks->count; i++) {
        ready.all &= checks->item[i].status != DOCTOR_MISSING;
        ready.fine += checks->item[i].status == DOCTOR_OK;
    }
    return ready;
}

/* full: also what is ok. Of a server of the user's own it is always shown. */
static void add_doctor_findings(const struct doctor *checks, const struct ready *ready, bool full,
                                struct doc *doc) {
    static const enum tone tones[] = {TONE_GOOD, TONE_WARN, TONE_BAD};
    static const struct doc_column columns[] = {{.title = "state"},
                                                {.title = "check"},
                                                {.title = "found here", .words = true},
                                                {.title = "what to do", .below = true},
                                                {0}};
    full |= !ready->whole;
    if (ready->whole)
        doc_say(doc, ready->all ? TONE_GOOD : TONE_WARN,
                "%d of %d locks can run here. %d of %d checks are fine%s.", ready->locks, ready->of,
                ready->fine, checks->count, full ? "" : ", which --full shows");
    doc_table(doc, NULL, NULL);
    doc_columns(doc, columns);
    for (int i = 0; i < checks->count; i++) {
        const struct doctor_finding *check = &checks->item[i];
        bool said = false; /* what to do: once for all that it helps */
        if (!full && check->status == DOCTOR_OK) continue;
        for (int j = 0; j < i; j++) said |= strcmp(check->fix, checks->item[j].fix) == 0;
        doc_row(doc, DOC_ROW);
        doc_cell(doc, "%s", status_names[check->status]);
        doc_set_tone(doc, tones[check->status]);
        doc_cell(doc, "%s", check->name);
        doc_cell(doc, "%s", check->detail);
        doc_cell(doc, "%s", "");
        if (*check->fix && !said) doc_command(doc, "do", check->fix);
    }
    doc_end(doc);
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

/* The plan of the locks that are named, or else of all locks of the URLs' backends. NULL with err. */
static struct plan *locks_plan(const struct typed *typed, struct available *available,
                               struct arena *arena, struct lb_err *err) {
    char workloads[PATH_MAX];
    struct arg_list locks = typed->locks;
    for (int i = 0; typed->locks.count == 0 && i < typed->urls.count; i++)
        if (arg_list_add(&locks, typed->urls.item[i].backend->name, arena, err)) return NULL;
    const char *names = arg_list_join(&locks, arena, err);
    if (!names || home_path("workloads", workloads, sizeof workloads, err) != 0) return NULL;
    struct plan *plan = plan_load(&(struct plan_ask){.workload = "smoke",
                                                     .folder = workloads,
                                                     .locks = names,
                                                     .sets = typed->sets.item,
                                                     .set_count = typed->sets.count,
                                                     .why_not = available_for_plan,
                                                     .why_not_context = available},
                                  err);
    for (int i = 0; plan && i < plan->lock_count; i++) {
        const struct lb_backend *backend = plan->locks[i].lock->backend;
        bool has = false;
        for (int u = 0; u < typed->urls.count; u++) has |= typed->urls.item[u].backend == backend;
        if (has) continue;
        err_set(err, LB_EXIT_USAGE, "doctor: %s is tried on a server of yours: --url %s=URL",
                plan->locks[i].lock->name, backend->name);
        plan_free(plan);
        return NULL;
    }
    return plan;
}

/* The backend's options of the plan; NULL: it has no lock of the backend. */
static const void *options_of(const struct plan *plan, const struct lb_backend *backend) {
    for (int i = 0; i < plan->lock_count; i++)
        if (plan->locks[i].lock->backend == backend) return plan->locks[i].backend_options;
    return NULL;
}

static int run_doctor(void *values, const struct args *given, struct lb_err *err) {
    struct typed *typed = values;
    struct available available = {0};
    struct doctor checks = {0};
    if (available_init(&available, err)) return -1;
    struct plan *plan = NULL;
    bool failed = urls_ready(&typed->urls, given->arena, &available, err) != 0;
    bool whole = typed->urls.typed == 0 && typed->locks.count == 0;
    if (!failed && typed->urls.count + typed->locks.count > 0)
        failed = !(plan = locks_plan(typed, &available, given->arena, err));
    if (failed) {
        available_done(&available);
        return -1;
    }
    if (whole) doctor_backends(&checks, &available);
    if (whole) doctor_machine(&checks);
    for (int i = 0; i < typed->urls.count; i++) {
        struct place_url at = typed->urls.item[i];
        at.options = options_of(plan, at.backend);
        if (doctor_url(&checks, &at)) doctor_locks(&checks, plan, &at);
    }
    if (plan) plan_free(plan);
    struct ready ready = count_ready(&available, &checks);
    ready.whole = whole;
    available_done(&available);
    if (!typed->json) {
        struct doc doc = {0};
        add_doctor_findings(&checks, &ready, typed->full, &doc);
        if (doc_write_and_free(&doc, DOC_TERMINAL, terminal_has_color(stdout), stdout, err))
            return -1;
    } else if (print_doctor_json(&checks, &ready, err)) {
        return -1;
    }
    return ready.all ? LB_EXIT_OK : checks.code ? checks.code : LB_EXIT_MACHINE;
}

static const struct example examples[] = {
    {"lockbench doctor", "what is missing, and what to type"},
    {"lockbench doctor pg-row --url postgres=env:PG_URL",
     "whether the account may do what this lock needs"},
    {NULL, NULL},
};

const struct command command_doctor = {
    .name = "doctor",
    .summary = "what this machine lacks, and what to type",
    .usage = "doctor [LOCK...] [OPTIONS]",
    .about =
        "Says what is missing on this machine to run every lock, what would distort figures, and what to\n"
        "type. With --url only whether locks (names or backends; default: those of the URLs) work on\n"
        "servers of your own: each takes a key, waits for it, frees and removes it, with what it needs.\n"
        "What the account may not do is named, with what grants it. Exit code 0 if nothing is missing,\n"
        "else 2; 1 if a server refuses the account of a URL.",
    .examples = examples,
    .args = args,
    .bytes = sizeof(struct typed),
    .run = run_doctor,
};
