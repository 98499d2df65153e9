/* list_about: the facts about a lock, the names of its key, and the page of all locks; see list.h. */
#include <string.h>

#include "bench/cli/list.h"
#include "bench/workload/plan.h"
#include "drivers/key_names.h"
#include "drivers/registry.h"

/* A fact about a lock. name: at most 22 characters, the width of a terminal's column of names. */
struct about_fact {
    const char *name;
    /* NULL or "" if the fact is not stated for the lock; may write at most size bytes into text. */
    const char *(*text)(const struct lb_lock *lock, char *text, size_t size);
};

static bool is_control(const struct lb_lock *lock) {
    return lock->caps & LB_CAP_CONTROL;
}

/* A fact that is a member of struct lb_about. */
#define ABOUT(member)                                                                              \
    static const char *member##_of(const struct lb_lock *lock, char *text, size_t size) {          \
        (void)text, (void)size;                                                                    \
        return lock->about.member;                                                                 \
    }
ABOUT(compatible)
ABOUT(incompatible)
ABOUT(order)
ABOUT(token)
ABOUT(hazards)
ABOUT(mistake)

static const char *primitive_of(const struct lb_lock *lock, char *text, size_t size) {
    (void)text, (void)size;
    return lb_primitive_name(lock->primitive);
}

static const char *waits_of(const struct lb_lock *lock, char *text, size_t size) {
    (void)text, (void)size;
    return lock->waits;
}

static const char *keeps_of(const struct lb_lock *lock, char *text, size_t size) {
    (void)text, (void)size;
    return lock->keeps;
}

/* "2 + 1" (acquire and release). */
static const char *requests_of(const struct lb_lock *lock, char *text, size_t size) {
    const struct lb_about *about = &lock->about;
    if (is_control(lock)) return NULL;
    if (about->acquire_requests == 0 && about->release_requests == 0) return "none";
    snprintf(text, size, "%d + %d%s", about->acquire_requests, about->release_requests,
             lock->backend->program_speaks ? " to the program; its own are not counted" : "");
    return text;
}

/* "when its lease ends, up to 1s later". */
static const char *crash_of(const struct lb_lock *lock, char *text, size_t size) {
    static const char *const when[] = {"never", "at once", "when its lease ends",
                                       "when its session ends"};
    char slack[40];
    if (is_control(lock)) return NULL;
    if (lock->primitive == LB_OPTIMISTIC || (lock->caps & LB_CAP_BASELINE)) return "holds nothing";
    if (lock->about.crash_slack_ns <= 0) return when[lock->about.crash];
    snprintf(text, size, "%s, up to %s later", when[lock->about.crash],
             duration_text(lock->about.crash_slack_ns, slack, sizeof slack));
    return text;
}

static const char *guarantee_of(const struct lb_lock *lock, char *text, size_t size) {
    (void)text, (void)size;
    return is_control(lock) ? NULL : lb_guarantee_text(lock->about.guarantee);
}

static const char *exposed_as(const struct lb_lock *lock) {
    return verdict_name(lb_exposed_verdict(lock->about.exposed_as));
}

static const char *exposed_of(const struct lb_lock *lock, char *text, size_t size) {
    const char *by = lock->about.exposed_by;
    if (!is_control(lock)) return NULL;
    snprintf(text, size, "%s, as %s", by ? by : "any contention", exposed_as(lock));
    return text;
}

static const struct about_fact about_facts[] = {
    {"primitive", primitive_of},
    {"the mistake", mistake_of},
    {"exposed by", exposed_of},
    {"compatible with", compatible_of},
    {"not compatible with", incompatible_of},
    {"requests", requests_of},
    {"waits by", waits_of},
    {"order of waiters", order_of},
    {"freed after a crash", crash_of},
    {"fencing token", token_of},
    {"truth lives on", guarantee_of},
    {"hazards", hazards_of},
    {"keeps on the server", keeps_of},
    {NULL, NULL},
};

void about_terms(const struct lb_lock *lock, struct doc *doc) {
    char text[256];
    for (const struct about_fact *fact = about_facts; fact->name; fact++) {
        const char *value = fact->text(lock, text, sizeof text);
        if (value && *value) doc_term(doc, fact->name, "%s", value);
    }
}

void about_causes(const struct lb_lock *lock, struct doc *doc) {
    const struct lb_known_cause *cause = lock->algorithm->causes;
    if (!cause) return;
    doc_heading(doc, "figures that have a known cause");
    doc_terms(doc);
    for (; cause->figure; cause++) {
        doc_term(doc, cause->figure, "%s%s%s", cause->cause, cause->option ? "; option: " : "",
                 cause->option ? cause->option : "");
    }
    doc_end(doc);
}

void about_expected(const struct lb_lock *lock, struct doc *doc) {
    static const struct doc_column columns[] = {
        {.title = "fault"}, {.title = "verdict"}, {.title = "why", .words = true}, {0}};
    doc_heading(doc, "under faults, the worst that may show");
    doc_table(doc, NULL, NULL);
    doc_columns(doc, columns);
    for (int i = 0; i < LB_SCENARIOS; i++) {
        enum lb_scenario fault = (enum lb_scenario)i;
        const struct lb_expectation *expected = lb_expected(lock, fault);
        if (expected->worst == LB_EXPECT_UNSTATED) continue;
        doc_row(doc, DOC_ROW);
        doc_cell(doc, "%s", lb_scenario_name(fault));
        doc_cell(doc, "%s", lb_expect_name(expected->worst));
        doc_cell(doc, "%s", expected->why);
    }
    doc_end(doc);
}

json_t *about_expected_json(const struct lb_lock *lock) {
    json_t *faults = json_object();
    for (int i = 0; i < LB_SCENARIOS; i++) {
        enum lb_scenario fault = (enum lb_scenario)i;
        const struct lb_expectation *expected = lb_expected(lock, fault);
        if (expected->worst == LB_EXPECT_UNSTATED) continue;
        json_object_set_new(faults, lb_scenario_name(fault),
                            json_pack("{s:s, s:s?}", "worst", lb_expect_name(expected->worst),
                                      "why", expected->why));
    }
    return faults;
}

json_t *about_json(const struct lb_lock *lock) {
    const struct lb_about *about = &lock->about;
    return json_pack("{s:s?, s:s?, s:s?, s:s?, s:s?, s:i, s:i, s:s, s:s, s:I, s:s?, s:s?, s:s?}",
                     "compatible", about->compatible, "incompatible", about->incompatible, "order",
                     about->order, "token", about->token, "hazards", about->hazards,
                     "acquire_requests", about->acquire_requests, "release_requests",
                     about->release_requests, "guarantee", lb_guarantee_name(about->guarantee),
                     "crash", lb_crash_name(about->crash), "crash_slack_ns",
                     (json_int_t)about->crash_slack_ns, "mistake", about->mistake, "exposed_by",
                     about->exposed_by, "exposed_as", is_control(lock) ? exposed_as(lock) : NULL);
}

#define PAGE_LEASE_NS (10 * LB_S_NS)

/* Returns 1 if there are names, 0 if there are none, -1 with err. */
static int ask_names(const struct lb_lock *lock, const char *key, int64_t lease_ns,
                     struct lb_names *ret_names, struct lb_err *err) {
    struct arena arena = {0};
    const struct lb_algorithm *algorithm = lock->algorithm;
    void *options = options_new(algorithm->options, algorithm->options_bytes, &arena, err);
    int found = options ? lb_names_of(lock, options, lease_ns, key, ret_names) : -1;
    arena_done(&arena);
    return found;
}

int about_key(const struct lb_lock *lock, const char *key, int64_t lease_ns, struct doc *doc,
              struct lb_err *err) {
    static const struct doc_column columns[] = {
        {.title = "key on the server"}, {.title = "name", .words = true}, {0}};
    struct lb_names names;
    if (lb_unavailable(lock->backend))
        return err_set(err, LB_EXIT_MACHINE, "list: %s: %s (install: %s)", lock->name,
                       lb_unavailable(lock->backend), lock->backend->install);
    int found = ask_names(lock, key, lease_ns, &names, err);
    if (found < 0) return -1;
    if (!found && lock->algorithm->names && lock->backend->schemes)
        return err_set(err, LB_EXIT_USAGE, "list: %s can't have a key '%.60s'", lock->name, key);
    if (!found)
        return err_set(err, LB_EXIT_USAGE,
                       "list: no other program can reach a key of %s: it is in the memory or in a "
                       "private folder of one run",
                       lock->name);
    doc_table(doc, NULL, NULL);
    doc_columns(doc, columns);
    for (int i = 0; i < names.count; i++) {
        doc_row(doc, DOC_ROW);
        doc_cell(doc, "%s", names.item[i].what);
        doc_cell(doc, "%s", names.item[i].text);
    }
    doc_end(doc);
    return 0;
}

static const char *about_key_text(const struct lb_lock *lock, const char *key, char *text,
                                  size_t size) {
    struct lb_names names;
    struct lb_err err = {0};
    size_t used = 0;
    text[0] = '\0';
    if (ask_names(lock, key, PAGE_LEASE_NS, &names, &err) != 1) return text;
    for (int i = 0; i < names.count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s `%s`", i ? "; " : "",
                                 names.item[i].what, names.item[i].text);
    return text;
}

#define PAGE_COLUMNS 118

/* Writes text word by word after `column` columns; further lines are indented by two. */
static void write_wrapped(const char *text, size_t column, FILE *out) {
    while (*text) {
        size_t length = strcspn(text, " ");
        if (column + 1 + length > PAGE_COLUMNS) {
            fputs("\n ", out);
            column = 1;
        }
        fprintf(out, " %.*s", (int)length, text);
        column += 1 + length;
        text += length;
        text += strspn(text, " ");
    }
    fputc('\n', out);
}

static void write_item(const char *name, const char *text, FILE *out) {
    if (!text || !*text) return;
    write_wrapped(text, (size_t)fprintf(out, "- %s:", name), out);
}

/* The scenarios in which a lock may show this verdict at worst. */
static void write_scenarios(const struct lb_lock *lock, enum lb_expect worst, FILE *out) {
    char name[40], text[1024] = "";
    size_t length = 0;
    for (int i = 0; i < LB_SCENARIOS; i++) {
        if (lb_expected(lock, (enum lb_scenario)i)->worst != worst) continue;
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%s", length ? ", " : "",
                                   lb_scenario_name((enum lb_scenario)i));
    }
    snprintf(name, sizeof name, "%s at worst in", lb_expect_name(worst));
    write_item(name, text, out);
}

static void write_lock(const struct lb_lock *lock, FILE *out) {
    char text[1024];
    fprintf(out, "\n### %s\n", lock->name);
    write_item("algorithm", lock->summary, out);
    for (const struct about_fact *fact = about_facts; fact->name; fact++)
        write_item(fact->name, fact->text(lock, text, sizeof text), out);
    write_item("key `k` on the server", about_key_text(lock, "k", text, sizeof text), out);
    for (int worst = LB_EXPECT_SAFE; worst <= LB_EXPECT_VIOLATED; worst++)
        write_scenarios(lock, (enum lb_expect)worst, out);
}

void about_page(FILE *out) {
    const struct lb_backend *last = NULL;
    bool controls = false;
    fputs(
        "# The locks\n\n"
        "Written by `make table` from the tables of the drivers; do not edit. `lockbench list NAME` "
        "tells more: options,\nclaims, servers, packages, and the reason for each verdict below.\n\n"
        "- requests: for acquire + release of an uncontended key, as the conformance suite counts "
        "them.\n"
        "- safe, expired, stuck, violated: the worst that a lock may show in the scenarios of "
        "`lockbench check`\n  ([what they mean](../bench/CHECK.md)). Scenarios that are not named are "
        "not stated, and are not run.\n",
        out);
    for (int i = 0; registry_locks()[i]; i++) {
        const struct lb_lock *lock = registry_locks()[i];
        if ((lock->caps & LB_CAP_CONTROL) && !controls) {
            fputs("\n## Controls: broken on purpose, so that the checks are seen to catch them\n",
                  out);
            controls = true;
        } else if (!controls && lock->backend != last) {
            fprintf(out, "\n## %s: %s\n", lock->backend->name, lock->backend->summary);
        }
        last = lock->backend;
        write_lock(lock, out);
    }
}
