/* cmd_check_suite: `lockbench --conform`: the conformance suite of one lock, for `check` alone, in a process of its
 * own, since a call that does not return ends the process. Its lines go to
 * the log of the cell, from where `check` prints them. */
#include <jansson.h>
#include <string.h>

#include "bench/cli/cli.h"
#include "bench/cli/terminal.h"
#include "bench/cli/urls.h"
#include "bench/conform/conform.h"
#include "bench/tools/check/cmd_check.h"
#include "drivers/registry.h"
#include "drivers/url.h"
#include "results/format/write.h"

#define SCHEMA "lockbench.conformance/1"

struct typed {
    const char *lock, *out; /* out: where conformance.json is saved */
    struct urls urls;
    struct arg_list sets;
};

static const struct arg args[] = {
    {{"", LB_OPT_TEXT, offsetof(struct typed, lock), .help = NULL}, "LOCK"},
    {{"url", &type_url, offsetof(struct typed, urls), .max = URLS_MAX, .help = NULL},
     "BACKEND=URL"},
    {{"set", ARG_LIST, offsetof(struct typed, sets), .max = CONFORM_SUITE_SETS_MAX, .help = NULL},
     "KEY=VALUE"},
    {{"out", ARG_PATH, offsetof(struct typed, out), .help = NULL}, "DIR"},
    {{0}, NULL},
};

/* The results so far, and the file for them, which is written after each check, since a call that
 * does not return ends the process. */
struct telling {
    json_t *root;
    const char *out;
    struct lb_err unsaved;
};

static const char *const shows[] = {"wrong", "granted", "refused", "granted"}; /* by trial_shown */

static void save(struct telling *telling) {
    char path[1024];
    if (telling->unsaved.code) return;
    snprintf(path, sizeof path, "%s/conformance.json", telling->out);
    result_write_file(telling->root, path, &telling->unsaved);
}

static void tell_check(void *arg, const struct conform_check *check,
                       const struct conform_result *told) {
    static const char *const words[] = {"passed", "FAILED", "left out"};
    struct telling *telling = arg;
    bool failed = told->end == CONFORM_FAILED;
    bool same = strcmp(told->first, told->failure) == 0;
    printf("%-8s  %s%s%s%s%s\n", words[told->end], check->name, *told->failure ? ": " : "",
           told->failure,
           !*told->first ? ""
           : same        ? "; tried twice, the same both times"
                         : "; tried twice, the first time: ",
           same ? "" : told->first);
    fflush(stdout);
    bool overlap = failed && told->shown == TRIAL_OVERLAP;
    json_t *json = json_pack("{s:s, s:s, s:s, s:s, s:s?, s:b, s:f}", "check", check->name, "result",
                             failed ? "failed" : words[told->end], "why", told->failure, "first",
                             told->first, "shown", failed ? shows[told->shown] : NULL, "overlap",
                             overlap, "took_s", (double)told->took_ns / 1e9);
    json_array_append_new(json_object_get(telling->root, "checks"), json);
    save(telling);
}

static int run_conform(void *values, const struct args *given, struct lb_err *err) {
    struct typed *typed = values;
    const struct lb_lock *lock = typed->lock ? registry_lock(typed->lock) : NULL;
    const char *url = NULL, *sets[CONFORM_SUITE_SETS_MAX + 1] = {NULL};
    char shown[512];
    (void)given;
    if (!lock || !typed->out)
        return err_set(err, LB_EXIT_USAGE, "this is a part of lockbench check LOCK");
    for (int i = 0; i < typed->urls.count; i++) {
        if (typed->urls.item[i].backend == lock->backend) url = typed->urls.item[i].url;
    }
    for (int i = 0; i < typed->sets.count; i++) sets[i] = typed->sets.item[i];
    struct telling telling = {.out = typed->out};
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
    if (code == 0) {
        json_object_set_new(telling.root, "complete", json_true());
        save(&telling);
        if (telling.unsaved.code) code = err_set(err, LB_EXIT_MACHINE, "%s", telling.unsaved.text);
    }
    json_decref(telling.root);
    return code;
}

const struct command command_check_suite = {
    .name = "--conform",
    .usage = "--conform LOCK --out DIR",
    .about = "A part of `lockbench check LOCK --fault conformance`.",
    .args = args,
    .bytes = sizeof(struct typed),
    .run = run_conform,
};
