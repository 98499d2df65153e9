/* cmd_conform: `lockbench conform`. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bench/cli/cli.h"
#include "bench/cli/complete.h"
#include "bench/cli/interrupt.h"
#include "bench/cli/shell.h"
#include "bench/cli/urls.h"
#include "bench/conform/conform_suite.h"
#include "bench/workload/lock_words.h"
#include "drivers/registry.h"
#include "drivers/url.h"
#include "results/format/write.h"

#define SCHEMA "lockbench.conformance/1"

struct wish {
    struct arg_list lock;
    struct urls urls;
    struct arg_list sets;
    const char *out;
};

static const struct arg args[] = {
    {{"", ARG_LIST, offsetof(struct wish, lock), .max = 1, .help = NULL}, "LOCK"},
    {{"url", &type_url, offsetof(struct wish, urls), .max = URLS_MAX, .help = URLS_HELP},
     "BACKEND=URL"},
    {{"set", ARG_KEYS, offsetof(struct wish, sets), .max = CONFORM_SUITE_SETS_MAX,
      .help = "set an option of the lock or its backend, as for `run`; repeatable"},
     "SECTION.KEY=VALUE"},
    {{"out", ARG_PATH, offsetof(struct wish, out), .help = "save conformance.json there"}, "DIR"},
    {{0}, NULL},
};

/* The results so far, and the file for them, which is written after each check, since a call that
 * does not return ends the process. */
struct telling {
    json_t *root;
    const char *out;
    int passed, failed, left_out;
    bool granted;
    struct lb_err unsaved;
};

static const char *const shown_words[] = {
    [TRIAL_WRONG] = "wrong", [TRIAL_GRANTED] = "granted", [TRIAL_REFUSED] = "refused"};

static void save(struct telling *telling) {
    char path[1024];
    if (!telling->out || telling->unsaved.code) return;
    snprintf(path, sizeof path, "%s/conformance.json", telling->out);
    result_write_file(telling->root, path, &telling->unsaved);
}

static void tell_check(void *arg, const struct conform_told *told) {
    static const char *const words[] = {"passed", "FAILED", "left out"};
    struct telling *telling = arg;
    bool failed = told->end == CONFORM_FAILED;
    bool same = strcmp(told->first, told->why) == 0;
    printf("%-8s  %s%s%s%s%s\n", words[told->end], told->check, *told->why ? ": " : "", told->why,
           !*told->first ? ""
           : same        ? "; tried twice, the same both times"
                         : "; tried twice, the first time: ",
           same ? "" : told->first);
    fflush(stdout);
    telling->passed += told->end == CONFORM_PASSED;
    telling->failed += failed;
    telling->left_out += told->end == CONFORM_LEFT_OUT;
    telling->granted |= failed && told->shown == TRIAL_GRANTED;
    json_t *check =
        json_pack("{s:s, s:s, s:s, s:s, s:s?, s:b, s:f}", "check", told->check, "result",
                  failed ? "failed" : words[told->end], "why", told->why, "first", told->first,
                  "shown", failed ? shown_words[told->shown] : NULL, "overlap", told->overlap,
                  "took_s", (double)told->took_ns / 1e9);
    json_array_append_new(json_object_get(telling->root, "checks"), check);
    save(telling);
}

/* Prints on which topologies of lockbench the suite did not try the lock. A lock whose client is a
 * program of the user's speaks with one kind of server, which lockbench does not know. */
static void tell_untried(const struct lb_lock *lock, const struct arg_list *sets) {
    const char *const *topologies = lb_topologies(lock);
    if (!topologies || !topologies[1]) return;
    if (lock->needs) {
        printf("tried on %s\n", topologies[0]);
        return;
    }
    char *more = shell_options(sets->item, sets->count, NULL, 0);
    printf("tried on %s; not on", topologies[0]);
    for (int i = 1; topologies[i]; i++) printf("%s %s", i > 1 ? "," : "", topologies[i]);
    printf(": lockbench run smoke --lock %s --set servers.topology=%s%s\n", lock->name,
           topologies[1], more ? more : "");
    free(more);
}

static int conclude(struct telling *telling, const struct lb_lock *lock, const char *url,
                    const struct arg_list *sets, struct lb_err *err) {
    json_object_set_new(telling->root, "complete", json_true());
    save(telling);
    printf("%s: %d checks passed, %d failed, %d left out\n", lock->name, telling->passed,
           telling->failed, telling->left_out);
    if (!url) tell_untried(lock, sets);
    if (telling->unsaved.code) return err_set(err, LB_EXIT_MACHINE, "%s", telling->unsaved.text);
    return telling->granted ? LB_EXIT_VIOLATED : telling->failed ? LB_EXIT_MACHINE : LB_EXIT_OK;
}

/* Returns "owner.name=value" of a --set as "name=value". NULL with err. */
static const char *own_option(const struct lb_lock *lock, const char *set, struct lb_err *err) {
    const char *const owners[] = {lock->name, lock->backend->name};
    const struct lb_option *const tables[] = {lock->algorithm->options,
                                              lb_backend_options(lock->backend)};
    size_t owner = strcspn(set, ".="), len = strcspn(set, "=");
    char name[64];
    if (set[owner] == '.' && set[len]) {
        snprintf(name, sizeof name, "%.*s", (int)(len - owner - 1), set + owner + 1);
        for (int i = 0; i < 2; i++) {
            if (strlen(owners[i]) == owner && strncmp(set, owners[i], owner) == 0 &&
                options_find(tables[i], name))
                return set + owner + 1;
        }
    }
    err_set(err, LB_EXIT_USAGE, "--set %.*s: neither %s nor %s has such an option", (int)len, set,
            owners[0], owners[1]);
    return NULL;
}

static int run_conform(void *values, const struct args *given, struct lb_err *err) {
    struct wish *wish = values;
    const struct lb_lock *lock = NULL;
    const char *url = NULL, *sets[CONFORM_SUITE_SETS_MAX + 1] = {NULL};
    char shown[512];
    (void)given;
    if (wish->lock.count != 1) return err_set(err, LB_EXIT_USAGE, "conform: which lock?");
    if (lock_word_check(wish->lock.item[0], err) != 0) return -1;
    lock = registry_lock(wish->lock.item[0]);
    if (!lock) return err_set(err, LB_EXIT_USAGE, "conform: one lock by its name, please");
    if (lb_unavailable(lock->backend))
        return err_set(err, LB_EXIT_MACHINE, "%s can't run: %s; install: %s", lock->name,
                       lb_unavailable(lock->backend), lock->backend->install);
    for (int i = 0; i < wish->urls.count; i++) {
        if (wish->urls.item[i].backend == lock->backend) url = wish->urls.item[i].url;
    }
    if (wish->out && mkdir(wish->out, 0777) != 0 && errno != EEXIST)
        return err_set(err, LB_EXIT_MACHINE, "cannot make %s: %s", wish->out, strerror(errno));
    for (int i = 0; i < wish->sets.count; i++) {
        sets[i] = own_option(lock, wish->sets.item[i], err);
        if (!sets[i]) return -1;
    }
    struct telling telling = {.out = wish->out};
    telling.root =
        json_pack("{s:s, s:s, s:s?, s:b, s:[]}", "schema", SCHEMA, "lock", lock->name, "url",
                  url ? url_public(url, shown, sizeof shown) : NULL, "complete", 0, "checks");
    struct conform_ask ask = {.lock = lock,
                              .url = url,
                              .sets = sets,
                              .tell = tell_check,
                              .arg = &telling,
                              .interrupts = interrupt_watch(true)};
    int code = telling.root ? conform_suite(&ask, err) : err_set(err, LB_EXIT_MACHINE, "no memory");
    if (code == 0) code = conclude(&telling, lock, url, &wish->sets, err);
    json_decref(telling.root);
    return code;
}

static const struct example examples[] = {
    {"lockbench conform pg-advisory --url postgres=env:PG_URL", "each check on a server of yours"},
    {"lockbench conform redis-fair", "the same on a server that lockbench starts"},
    {NULL, NULL},
};

const struct command command_conform = {
    .name = "conform",
    .summary = "the conformance suite on one lock: does it do what every lock must do?",
    .usage = "conform LOCK [--url BACKEND=URL] [OPTIONS]",
    .about =
        "Tries one lock with the checks for its capabilities, one after the other, and prints the result of\n"
        "each: exclusion, waits, leases, renewals, owners, sessions, lost answers, and keys that are left on\n"
        "the server. A check that fails on a server is tried twice, unless two clients held at once. On a\n"
        "server at --url the checks that kill the server or count all its keys are left out. Exit code 3:\n"
        "the lock said yes where it must say no.",
    .examples = examples,
    .args = args,
    .bytes = sizeof(struct wish),
    .run = run_conform,
};
