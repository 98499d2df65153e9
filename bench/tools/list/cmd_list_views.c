/* cmd_list_views: see cmd_list_views.h. */
#include "bench/tools/list/cmd_list_views.h"

#include <string.h>

#include "bench/base/nearest.h"
#include "bench/option/option.h"
#include "bench/workload/plan.h"
#include "bench/workload/sections.h"
#include "drivers/key_names.h"
#include "drivers/registry.h"

#define LEASE_NS (30 * LB_S_NS) /* the names are those of a lease of this length */

static bool is_wanted(const struct list *list, const char *name) {
    return !list->only || strcmp(list->only, name) == 0;
}

static bool is_control(const struct lb_lock *lock) {
    return lock->caps & LB_CAP_CONTROL;
}

/* ---- the facts in a lock's table (driver.h: struct lb_about), in words ---- */

/* Appends a word to a list with commas between. */
static void add_word(char *text, size_t size, const char *word) {
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s", used ? ", " : "", word);
}

/* Writes the capability bits in words, "try, wait, lease", at most size bytes. Returns text. */
static char *caps_text(unsigned caps, char *text, size_t size) {
    static const struct {
        unsigned bit;
        const char *name;
    } bits[] = {
        {LB_CAP_TRY, "try"},         {LB_CAP_WAIT, "wait"},
        {LB_CAP_LEASE, "lease"},     {LB_CAP_RENEW, "renew"},
        {LB_CAP_FENCE, "fence"},     {LB_CAP_FAIR, "fair"},
        {LB_CAP_SESSION, "session"}, {LB_CAP_BLOCKS_THREAD, "blocks-thread"},
        {LB_CAP_SHARED, "shared"},   {LB_CAP_REENTRANT, "reentrant"},
        {LB_CAP_PERMITS, "permits"}, {LB_CAP_SHARE, "share"},
        {LB_CAP_CONTROL, "control"}, {LB_CAP_BASELINE, "baseline"},
        {LB_CAP_ATOMIC, "atomic"},
    };
    text[0] = '\0';
    for (size_t i = 0; i < sizeof bits / sizeof *bits; i++)
        if (caps & bits[i].bit) add_word(text, size, bits[i].name);
    return text;
}

static char *claims_text(unsigned claims, char *text, size_t size) {
    text[0] = '\0';
    for (unsigned claim = 1; claim < LB_CLAIMS_END; claim <<= 1)
        if (claims & claim) add_word(text, size, lb_claim_name(claim));
    return text;
}

/* "2 + 1" (acquire and release). */
static const char *requests_text(const struct lb_lock *lock, char *text, size_t size) {
    const struct lb_about *about = &lock->about;
    if (about->acquire_requests == 0 && about->release_requests == 0) return "none";
    snprintf(text, size, "%d + %d%s", about->acquire_requests, about->release_requests,
             lock->backend->program_speaks ? " to the program; its own are not counted" : "");
    return text;
}

/* "when its lease ends, up to 1s later". */
static const char *crash_text(const struct lb_lock *lock, char *text, size_t size) {
    static const char *const when[] = {"never", "at once", "when its lease ends",
                                       "when its session ends"};
    char slack[40];
    if (lock->primitive == LB_OPTIMISTIC || (lock->caps & LB_CAP_BASELINE)) return "holds nothing";
    if (lock->about.crash_slack_ns <= 0) return when[lock->about.crash];
    snprintf(text, size, "%s, up to %s later", when[lock->about.crash],
             duration_text(lock->about.crash_slack_ns, slack, sizeof slack));
    return text;
}

/* "any contention, as violated". */
static const char *exposed_text(const struct lb_lock *lock, char *text, size_t size) {
    const char *by = lock->about.exposed_by;
    snprintf(text, size, "%s, as %s", by ? by : "any contention",
             verdict_name(lb_exposed_verdict(lock->about.exposed_as)));
    return text;
}

/* Adds each fact that is stated of a lock. Names: at most 22 characters, the width of a terminal's column of names. */
static void add_facts(const struct lb_lock *lock, struct doc *doc) {
    const struct lb_about *about = &lock->about;
    bool control = is_control(lock);
    char exposed[80], requests[80], crash[80];
    const struct {
        const char *name, *text; /* NULL or "" if it is not stated */
    } facts[] = {
        {"primitive", lb_primitive_name(lock->primitive)},
        {"the mistake", about->mistake},
        {"exposed by", control ? exposed_text(lock, exposed, sizeof exposed) : NULL},
        {"compatible with", about->compatible},
        {"not compatible with", about->incompatible},
        {"requests", control ? NULL : requests_text(lock, requests, sizeof requests)},
        {"waits by", lock->waits},
        {"order of waiters", about->order},
        {"freed after a crash", control ? NULL : crash_text(lock, crash, sizeof crash)},
        {"fencing token", about->token},
        {"truth lives on", control ? NULL : lb_guarantee_text(about->guarantee)},
        {"hazards", about->hazards},
        {"keeps on the server", lock->keeps},
    };
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        if (facts[i].text && *facts[i].text) doc_term(doc, facts[i].name, "%s", facts[i].text);
}

/* Adds a table of the verdicts that are expected of the lock under each fault that it states. */
static void add_expected(const struct lb_lock *lock, struct doc *doc) {
    static const struct doc_column columns[] = {
        {.title = "fault"}, {.title = "verdict"}, {.title = "why", .words = true}, {0}};
    doc_heading(doc, "under faults, the worst that may show");
    doc_table(doc, NULL, NULL);
    doc_columns(doc, columns);
    for (int i = 0; i < LB_SCENARIOS; i++) {
        const struct lb_expectation *expected = lb_expected(lock, (enum lb_scenario)i);
        if (expected->worst == LB_EXPECT_UNSTATED) continue;
        doc_row(doc, DOC_ROW);
        doc_cell(doc, "%s", lb_scenario_name((enum lb_scenario)i));
        doc_cell(doc, "%s", lb_expect_name(expected->worst));
        doc_cell(doc, "%s", expected->why);
    }
    doc_end(doc);
}

static void add_causes(const struct lb_lock *lock, struct doc *doc) {
    const struct lb_known_cause *cause = lock->algorithm->causes;
    if (!cause) return;
    doc_heading(doc, "figures that have a known cause");
    doc_terms(doc);
    for (; cause->figure; cause++)
        doc_term(doc, cause->figure, "%s%s%s", cause->cause, cause->option ? "; option: " : "",
                 cause->option ? cause->option : "");
    doc_end(doc);
}

/* ---- the tables ---- */

static const char *why_no_backend(struct list *list, const struct lb_backend *backend,
                                  const char **ret_install) {
    return available_why_not(&list->available, backend, NULL, NULL, ret_install);
}

/* The locks that are broken on purpose, whose names are long. */
static void add_controls(struct doc *doc) {
    for (int i = 0; registry_locks()[i]; i++)
        if (is_control(registry_locks()[i]))
            doc_say(doc, TONE_PLAIN, "%s: %s", registry_locks()[i]->name,
                    registry_locks()[i]->summary);
}

/* The faults of `check` are workloads, too: check/NAME. */
static bool is_fault(const struct workload_file *file) {
    return strncmp(file->name, "check/", strlen("check/")) == 0;
}

static void add_workloads(struct list *list, bool faults, struct doc *doc) {
    static const struct doc_column columns[] = {
        {.title = "workload"}, {.title = "question", .words = true}, {0}};
    doc_table(doc, NULL, NULL);
    doc_columns(doc, columns);
    for (int i = 0; i < list->workloads.count; i++) {
        const struct workload_file *file = &list->workloads.item[i];
        if (is_fault(file) != faults) continue;
        doc_row(doc, DOC_ROW);
        doc_cell(doc, "%s", file->name);
        doc_cell(doc, "%s", file->wrong ? file->wrong : file->summary);
    }
    doc_end(doc);
}

/* Adds the names of the backend's locks, without those that are broken on purpose. */
static void add_backend_names(struct list *list, const struct lb_backend *backend,
                              struct doc *doc) {
    const char *install, *reason = why_no_backend(list, backend, &install), *blank = "";
    doc_term(doc, backend->name, "%s", "");
    for (int i = 0; registry_locks()[i]; i++) {
        const struct lb_lock *lock = registry_locks()[i];
        if (lock->backend != backend || is_control(lock)) continue;
        doc_span(doc, DOC_PLAIN, "%s%s", blank, lock->name);
        blank = " ";
    }
    if (reason) doc_span(doc, DOC_PLAIN, "%s", " (not here)");
}

void list_names(struct list *list, struct doc *doc) {
    int locks = 0, controls = 0, here = 0, faults = 0;
    const char *install;
    for (; registry_locks()[locks]; locks++) {
        controls += is_control(registry_locks()[locks]);
        here += !available_lock(&list->available, registry_locks()[locks], &install);
    }
    doc_say(doc, here < locks ? TONE_WARN : TONE_PLAIN,
            "%d locks can be used, and %d are broken on purpose. %d of all can run here%s.",
            locks - controls, controls, here,
            here < locks ? "; `lockbench doctor` says what the others lack" : "");
    doc_terms(doc);
    for (int i = 0; registry_backends()[i]; i++)
        add_backend_names(list, registry_backends()[i], doc);
    doc_term(doc, "controls",
             "the %d that are broken on purpose, so that the checks must catch them", controls);
    doc_term(doc, "workloads", "%s", "");
    for (int i = 0; i < list->workloads.count; i++) {
        const struct workload_file *file = &list->workloads.item[i];
        faults += is_fault(file);
        if (!is_fault(file)) doc_span(doc, DOC_PLAIN, "%s%s", i ? " " : "", file->name);
    }
    doc_term(doc, "faults", "%d of servers, clients and connections, for `lockbench check`",
             faults);
    doc_end(doc);
    doc_say(
        doc, TONE_PLAIN,
        "`lockbench list NAME` tells about a lock, a backend and its locks, a workload, and "
        "about controls, workloads or faults; `lockbench list --keys` has the keys of a workload.");
}

/* ---- all about one ---- */

/* Adds the options of a table, with their help, defaults and allowed values. */
static void add_options(const struct lb_option *table, struct doc *doc) {
    doc_terms(doc);
    for (const struct lb_option *option = table; option->name; option++) {
        char allowed[256];
        doc_term(doc, option->name, "%s; default %s; %s", option->help,
                 option->def && *option->def ? option->def : "empty",
                 option_allowed(option, allowed, sizeof allowed));
    }
    doc_end(doc);
}

static void add_section(const char *section, const struct lb_option *table, struct doc *doc) {
    if (!table || !table->name) return;
    doc_heading(doc, "options (in a workload: [%s] KEY = VALUE; or --set %s.KEY=VALUE)", section,
                section);
    add_options(table, doc);
}

static void add_here(struct doc *doc, const char *reason, const char *install) {
    doc_term(doc, "here", "%s", reason ? reason : "yes");
    if (reason && install) doc_term(doc, "install", "%s", install);
}

/* A topology that a lock can run on, and what this machine lacks for it. */
static void add_topology(struct list *list, const struct lb_backend *backend, const char *name,
                         const char *label, struct doc *doc) {
    const struct topo_info *info = available_info(&list->available, name);
    const char *install,
        *reason = available_why_not(&list->available, backend, name, NULL, &install);
    doc_term(doc, label, "%s: %s", name, info ? info->summary : reason);
    if (info && reason) doc_span(doc, DOC_PLAIN, "; not here: %s", reason);
    if (reason && install) doc_span(doc, DOC_PLAIN, "; install: %s", install);
}

static void add_lock(struct list *list, const struct lb_lock *lock, struct doc *doc) {
    char words[256];
    const char *install, *reason = available_lock(&list->available, lock, &install);
    const char *const *topology = lb_topologies(lock), *label = "runs on";
    bool built = !lb_unavailable(lock->backend); /* else no more is known of it */
    if (list->keys) {
        add_section(lock->name, lock->algorithm->options, doc);
        return;
    }
    doc_heading(doc, "lock %s: %s", lock->name, lock->summary);
    doc_terms(doc);
    doc_term(doc, "backend", "%s", lock->backend->name);
    add_here(doc, reason, install);
    if (built) {
        doc_term(doc, "can", "%s", caps_text(lock->caps, words, sizeof words));
        doc_term(doc, "claims", "%s",
                 *claims_text(lock->claims, words, sizeof words) ? words : "nothing");
        add_facts(lock, doc);
        if (lock->durability_note) doc_term(doc, "durability", "%s", lock->durability_note);
        for (; topology && *topology; topology++, label = "")
            add_topology(list, lock->backend, *topology, label, doc);
    }
    doc_end(doc);
    if (!built) return;
    add_section(lock->name, lock->algorithm->options, doc);
    add_causes(lock, doc);
    add_expected(lock, doc);
}

/* Each topology that a lock of the backend can run on, the default first. */
static void add_backend_topologies(struct list *list, const struct lb_backend *backend,
                                   struct doc *doc) {
    const char *seen[64];
    int count = 0;
    for (int i = 0; registry_locks()[i]; i++) {
        const struct lb_lock *lock = registry_locks()[i];
        const char *const *name = lock->backend == backend ? lb_topologies(lock) : NULL;
        for (; name && *name && count < 64; name++) {
            bool known = false;
            for (int s = 0; s < count; s++) known |= strcmp(seen[s], *name) == 0;
            if (known) continue;
            add_topology(list, backend, *name, count ? "" : "runs on", doc);
            seen[count++] = *name;
        }
    }
}

static void add_durabilities(const struct topo_info *info, struct doc *doc) {
    for (int i = 0; i < TOPO_DURABILITIES; i++) {
        bool offered = *info->durability[i].text != '\0';
        doc_term(doc, i ? "" : "durability", "%s: %s%s", topo_durability_names[i],
                 offered ? "" : "not offered; ",
                 offered ? info->durability[i].text : info->durability[i].refused);
    }
}

static void add_backend(struct list *list, const struct lb_backend *backend, struct doc *doc) {
    const char *install, *reason = why_no_backend(list, backend, &install);
    const struct topo_info *info =
        backend->topologies ? available_info(&list->available, backend->topologies[0]) : NULL;
    const struct lb_option *options = lb_backend_options(backend);
    if (list->keys) {
        add_section(backend->name, options, doc);
        return;
    }
    doc_heading(doc, "backend %s: %s", backend->name, backend->summary);
    doc_terms(doc);
    add_here(doc, reason, install);
    for (int i = 0; registry_locks()[i]; i++) {
        const struct lb_lock *lock = registry_locks()[i];
        if (lock->backend == backend && !is_control(lock))
            doc_term(doc, lock->name, "%s", lock->summary);
    }
    for (int i = 0; backend->schemes && backend->schemes[i]; i++) {
        if (i == 0) doc_term(doc, "use yours", "--url %s=", backend->name);
        doc_span(doc, DOC_PLAIN, "%s%s://", i ? " or " : "", backend->schemes[i]);
    }
    if (!backend->topologies)
        doc_term(doc, "server", "none: it lives in this program or in a file");
    add_backend_topologies(list, backend, doc);
    if (info) add_durabilities(info, doc);
    for (int i = 0; options && options[i].name; i++) {
        if (i == 0) doc_term(doc, "options", "list %s --keys: ", backend->name);
        doc_span(doc, DOC_PLAIN, "%s%s", i ? ", " : "", options[i].name);
    }
    doc_end(doc);
}

int list_details(struct list *list, struct doc *doc, struct lb_err *err) {
    struct nearest nearest;
    char hint[100];
    bool faults = is_wanted(list, "faults");
    if (is_wanted(list, "controls")) return add_controls(doc), 0;
    if (faults || is_wanted(list, "workloads")) return add_workloads(list, faults, doc), 0;
    nearest_init(&nearest, list->only);
    for (int i = 0; registry_locks()[i]; i++) {
        if (is_wanted(list, registry_locks()[i]->name)) add_lock(list, registry_locks()[i], doc);
        nearest_offer(&nearest, registry_locks()[i]->name);
    }
    for (int i = 0; registry_backends()[i]; i++) {
        if (is_wanted(list, registry_backends()[i]->name))
            add_backend(list, registry_backends()[i], doc);
        nearest_offer(&nearest, registry_backends()[i]->name);
    }
    for (int i = 0; i < list->workloads.count; i++) {
        const struct workload_file *file = &list->workloads.item[i];
        nearest_offer(&nearest, file->name);
        if (!is_wanted(list, file->name)) continue;
        doc_heading(doc, "workload %s: %s", file->name, file->wrong ? file->wrong : file->summary);
        doc_say(doc, TONE_PLAIN, "file: %s", file->path);
        doc_say(doc, TONE_PLAIN,
                "`lockbench run %s --dry-run` prints it with every default filled.", file->name);
    }
    if (*nearest.best && strcmp(nearest.best, list->only) == 0) return 0;
    return err_set(err, LB_EXIT_USAGE, "list: no lock, backend or workload '%.60s'%s", list->only,
                   nearest_hint(&nearest, hint, sizeof hint));
}

void list_keys(struct doc *doc) {
    for (const struct section *section = sections(); section->name; section++) {
        if (section->later) continue;
        doc_heading(doc, "[%s]", section->name);
        add_options(section->keys, doc);
    }
    doc_heading(doc, "[LOCK] and [BACKEND] sections hold their own options: `lockbench list NAME "
                     "--keys` shows them.");
    doc_say(doc, TONE_PLAIN, "Each key can be set on the command line: --set load.clients=1,2,4");
}

/* ---- the names of a key on the server ---- */

/* Returns 1 if there are names, 0 if there are none, -1 with err. */
static int ask_names(const struct lb_lock *lock, const char *key, struct lb_names *ret_names,
                     struct lb_err *err) {
    struct arena arena = {0};
    const struct lb_algorithm *algorithm = lock->algorithm;
    void *options = options_new(algorithm->options, algorithm->options_bytes, &arena, err);
    int found = options ? lb_names_of(lock, options, LEASE_NS, key, ret_names) : -1;
    arena_done(&arena);
    return found;
}

int list_key(const struct lb_lock *lock, const char *key, struct doc *doc, struct lb_err *err) {
    struct lb_names names;
    if (lb_unavailable(lock->backend))
        return err_set(err, LB_EXIT_MACHINE, "list: %s: %s (install: %s)", lock->name,
                       lb_unavailable(lock->backend), lock->backend->install);
    int found = ask_names(lock, key, &names, err);
    if (found < 0) return -1;
    if (!found && lock->algorithm->names && lock->backend->schemes)
        return err_set(err, LB_EXIT_USAGE, "list: %s can't have a key '%.60s'", lock->name, key);
    if (!found)
        return err_set(err, LB_EXIT_USAGE,
                       "list: no other program can reach a key of %s: it is in the memory or in a "
                       "private folder of one run",
                       lock->name);
    doc_list(doc);
    for (int i = 0; i < names.count; i++)
        doc_item(doc, TONE_PLAIN, "%s: %s", names.item[i].what, names.item[i].text);
    doc_end(doc);
    return 0;
}

/* ---- drivers/LOCKS.md ---- */

/* The scenarios in which a lock may show this verdict at worst. */
static void add_scenarios(const struct lb_lock *lock, enum lb_expect worst, struct doc *doc) {
    char name[40], text[1024] = "";
    for (int i = 0; i < LB_SCENARIOS; i++)
        if (lb_expected(lock, (enum lb_scenario)i)->worst == worst)
            add_word(text, sizeof text, lb_scenario_name((enum lb_scenario)i));
    snprintf(name, sizeof name, "%s at worst in", lb_expect_name(worst));
    if (*text) doc_term(doc, name, "%s", text);
}

void list_page(struct doc *doc) {
    const struct lb_lock *last = NULL;
    doc_say(
        doc, TONE_PLAIN,
        "Written by make table from the tables of the drivers; do not edit. lockbench list NAME "
        "tells more: options, claims, servers, packages, and the reason for each verdict below.");
    doc_terms(doc);
    doc_term(doc, "requests",
             "for acquire + release of an uncontended key, as the conformance suite counts them.");
    doc_term(doc, "safe, expired, stuck, violated",
             "the worst that a lock may show in the scenarios of lockbench check (bench/CHECK.md). "
             "Scenarios that are not named are not stated, and are not run.");
    doc_end(doc);
    for (int i = 0; registry_locks()[i]; i++, last = registry_locks()[i - 1]) {
        const struct lb_lock *lock = registry_locks()[i];
        bool of_last =
            last && (is_control(lock) ? is_control(last) : lock->backend == last->backend);
        char title[300] = "Controls: broken on purpose, so that the checks are seen to catch them";
        if (!is_control(lock))
            snprintf(title, sizeof title, "%s: %s", lock->backend->name, lock->backend->summary);
        if (last && !of_last) doc_end(doc);
        if (!of_last) doc_section(doc, "", title);
        doc_heading(doc, "%s", lock->name);
        doc_terms(doc);
        doc_term(doc, "algorithm", "%s", lock->summary);
        add_facts(lock, doc);
        for (int worst = LB_EXPECT_SAFE; worst <= LB_EXPECT_VIOLATED; worst++)
            add_scenarios(lock, (enum lb_expect)worst, doc);
        doc_end(doc);
    }
    doc_end(doc);
}
