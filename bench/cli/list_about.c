/* list_about: see list_about.h. The Markdown is in list_page.c. */
#include "bench/cli/list_about.h"

#include "bench/workload/plan.h"

char *about_requests(const struct lb_lock *lock, char *text, size_t size) {
    const struct lb_about *about = &lock->about;
    if (about->acquire_requests == 0 && about->release_requests == 0) {
        snprintf(text, size, "none");
    } else {
        snprintf(text, size, "%d + %d", about->acquire_requests, about->release_requests);
    }
    return text;
}

char *about_crash(const struct lb_lock *lock, char *text, size_t size) {
    static const char *const when[] = {"never", "at once", "when its lease ends",
                                       "when its session ends"};
    char slack[40];
    /* What holds nothing has nothing to free. */
    if (lock->primitive == LB_OPTIMISTIC || (lock->caps & LB_CAP_BASELINE)) {
        snprintf(text, size, "holds nothing");
        return text;
    }
    snprintf(text, size, "%s", when[lock->about.crash]);
    if (lock->about.crash_slack_ns > 0) {
        snprintf(text, size, "%s, up to %s later", when[lock->about.crash],
                 duration_text(lock->about.crash_slack_ns, slack, sizeof slack));
    }
    return text;
}

const char *about_guarantee(const struct lb_lock *lock) {
    static const char *const words[] = {"one host", "one server",
                                        "a primary with replicas behind it",
                                        "a majority of servers", "none"};
    return words[lock->about.guarantee];
}

const char *about_exposed(const struct lb_lock *lock) {
    static const char *const words[] = {"violated", "expired", "stuck"};
    return words[lock->about.exposed_as];
}

static void line(const char *name, const char *value, FILE *out) {
    if (value && *value) fprintf(out, "  %-11s %s\n", name, value);
}

void about_print(const struct lb_lock *lock, FILE *out) {
    const struct lb_about *about = &lock->about;
    char text[256];
    line("compatible", about->compatible, out);
    if (about->acquire_requests || about->release_requests) {
        fprintf(out, "  %-11s %s requests: acquire + release, uncontended\n", "costs",
                about_requests(lock, text, sizeof text));
    }
    line("order", about->order, out);
    line("token", about->token, out);
    line("crash frees", about_crash(lock, text, sizeof text), out);
    line("truth lives", about_guarantee(lock), out);
    line("hazards", about->hazards, out);
    line("keeps", lock->keeps, out);
    if (!(lock->caps & LB_CAP_CONTROL)) return;
    line("mistake", about->mistake, out);
    fprintf(out, "  %-11s by %s, as %s\n", "exposed",
            about->exposed_by ? about->exposed_by : "any contention", about_exposed(lock));
}

void about_print_expected(const struct lb_lock *lock, FILE *out) {
    bool any = false;
    for (int i = 0; i < LB_SCENARIOS; i++) {
        enum lb_scenario fault = (enum lb_scenario)i;
        const struct lb_expectation *expected = lb_expected(lock, fault);
        if (expected->worst == LB_EXPECT_UNSTATED) continue;
        if (!any) fprintf(out, "  under faults, the worst that may show:\n");
        any = true;
        fprintf(out, "    %-17s  %-8s  %s\n", lb_scenario_name(fault),
                lb_expect_name(expected->worst), expected->why);
    }
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
    static const char *const crashes[] = {"never", "at-once", "lease", "session"};
    const struct lb_about *about = &lock->about;
    bool control = lock->caps & LB_CAP_CONTROL;
    return json_pack(
        "{s:s?, s:s?, s:s?, s:s?, s:i, s:i, s:s, s:s, s:I, s:s?, s:s?, s:s?}", "compatible",
        about->compatible, "order", about->order, "token", about->token, "hazards", about->hazards,
        "acquire_requests", about->acquire_requests, "release_requests", about->release_requests,
        "guarantee", lb_guarantee_name(about->guarantee), "crash", crashes[about->crash],
        "crash_slack_ns", (json_int_t)about->crash_slack_ns, "mistake", about->mistake,
        "exposed_by", about->exposed_by, "exposed_as", control ? about_exposed(lock) : NULL);
}
