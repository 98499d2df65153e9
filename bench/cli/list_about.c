/* list_about: see list_about.h. The Markdown is in list_page.c. */
#include "bench/cli/list_about.h"

#include "bench/workload/plan.h"

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

const struct about_fact about_facts[] = {
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
