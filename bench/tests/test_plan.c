/* test_plan: workload files and command lines become plans, or one clear line that says why not. */

#include "bench/tests/plan_help.h"
#include "bench/workload/sections.h"
#include "bench/workload/workfile.h"
#include "drivers/registry.h"

TEST(every_shipped_workload_loads) {
    struct workload_list list;
    struct lb_err err = {0};
    assert_int_equal(workloads_find(folder, &list, &err), 0);
    assert_true(list.count >= 8);
    for (int i = 0; i < list.count; i++) {
        const char *name = list.item[i].name, *slash = strrchr(name, '/'); /* check/pause */
        struct plan *plan = shipped(name, "null");
        assert_string_equal(plan->name, slash ? slash + 1 : name);
        assert_string_not_equal(plan->summary, "");
        assert_string_equal(plan->summary, list.item[i].summary);
        if (json_array_size(plan->warnings))
            fail_msg("%s: %s", name, json_string_value(json_array_get(plan->warnings, 0)));
        /* And with the locks that it asks for; a build may lack the library that all of them
         * need. */
        plan = plan_load(&(struct plan_ask){.workload = name, .folder = folder}, &err);
        if (!plan && err.code != LB_EXIT_MACHINE) fail_msg("%s: %s", name, err.text);
        plan_free(plan);
    }
    workloads_done(&list);
}

TEST(the_short_tour_is_short) {
    struct plan *plan = shipped("compare", "null");
    int64_t time_ns;
    assert_int_equal(plan_stages(plan, &time_ns), 2 * 7);
    assert_true(13 * time_ns < 110 * LB_S_NS);
}

/* A holder whose renewals were held back renews once more, while another client holds: a lock that does not look whose
 * lease it renews is found by nothing else. */
TEST(a_starved_holder_renews_too_late) {
    struct plan *plan = shipped("check/starved-renewal", "null");
    const struct plan_fault *fault = &plan->faults[0];
    int64_t over_ns = fault->first_ns + fault->for_ns, every_ns = plan->leases_ns[0] / 3;
    assert_true(over_ns + every_ns + 100 * LB_MS_NS < plan->hold.mean_ns);
}

TEST(the_command_line_wins_and_its_last_word_most) {
    struct plan *plan = taken(
        "[load]\nclients = 8\nhold = 1ms\n[run]\nduration = 3s\n[sim]\nservice = 3ms\n", "sim,null",
        SETS("load.clients=1,2,4", "run.duration=9s", " run.duration = 2s", "sim.lose_every=7"));
    assert_int_equal(plan->clients_count, 3);
    assert_int_equal(plan->clients[2], 4);
    assert_int_equal(plan->duration_ns, 2 * LB_S_NS);
    assert_int_equal(plan->hold.mean_ns, LB_MS_NS);
    assert_int_equal(plan->lock_count, 2);
    assert_string_equal(plan->locks[0].lock->name, "sim");
    json_t *json = plan_json(plan), *sim = json_object_get(json_object_get(json, "options"), "sim");
    assert_int_equal(json_integer_value(json_object_get(sim, "service_ns")), 3 * LB_MS_NS);
    assert_int_equal(json_integer_value(json_object_get(sim, "lose_every")), 7);
    json_decref(json);
}

/* The next part of the text, up to the words, which are skipped. */
static char *next_part(char **rest, const char *words) {
    char *part = *rest, *end = strstr(part, words);
    *rest = end ? end + strlen(words) : part + strlen(part);
    if (end) *end = '\0';
    return part;
}

/* Of a line of plans.txt: the text of a file, and options. */
static struct plan *plan_of(const char *settings, const char *locks, struct lb_err *err) {
    char text[300] = "", options[300], *rest = options;
    const char *sets[SETS_MAX + 1] = {0};
    int count = 0;
    snprintf(options, sizeof options, "%s", settings);
    for (char *to = text; *settings == '[' || to > text; settings++) {
        bool breaks = (*settings == ';' || *settings == ']') && settings[1] == ' ';
        if (*settings != ';') *to++ = *settings;
        if (!*settings) break;
        if (breaks) *to++ = '\n', settings++;
    }
    for (next_part(&rest, "--"); *rest;) {
        char *value = next_part(&rest, " --"), *name = next_part(&value, " ");
        if (strcmp(name, "set") == 0) sets[count++] = value;
        if (strcmp(name, "lock") == 0) locks = value;
    }
    return load(text, locks, sets, err);
}

TEST(what_is_refused_or_warned_about_is_told_in_one_clear_line) {
    char line[500], locks[40] = "";
    FILE *file = fopen("bench/tests/plans.txt", "r");
    int count = 0;
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        struct lb_err err = {0};
        line[strcspn(line, "\n")] = '\0';
        if (!*line || *line == '#' || sscanf(line, "locks %39s", locks) == 1) continue;
        bool warned = strstr(line, " ? ") != NULL;
        count++;
        char *words = line, *settings = next_part(&words, warned ? " ? " : " ! ");
        struct plan *plan = plan_of(settings, *locks ? locks : NULL, &err);
        if (warned != (plan != NULL)) fail_msg("%s: %s", settings, plan ? "taken" : err.text);
        if (warned) assert_int_equal(json_array_size(plan->warnings), 1);
        if (!warned) assert_int_equal(err.code, LB_EXIT_USAGE);
        const char *said = warned ? json_string_value(json_array_get(plan->warnings, 0)) : err.text;
        assert_null(strchr(said, '\n'));
        while (*words) {
            const char *wanted = next_part(&words, " ! ");
            if (!strstr(said, wanted)) fail_msg("%s: no '%s' in: %s", settings, wanted, said);
        }
    }
    fclose(file);
    assert_true(count > 100);
}

/* In a closed loop no request waits for a client. */
TEST(a_promise_of_acquire_in_a_closed_loop_is_no_mistake) {
    struct plan *plan = taken("[slo]\npromises = acquire.p99<=1s\n", "mem-mutex", NULL);
    assert_int_equal(json_array_size(plan->warnings), 0);
}

static const struct lb_lock *lock_with(unsigned caps, unsigned without) {
    for (int i = 0; registry_locks()[i]; i++) {
        const struct lb_lock *lock = registry_locks()[i];
        if ((lock->caps & caps) == caps && !(lock->caps & without) &&
            !lb_unavailable(lock->backend))
            return lock;
    }
    return NULL;
}

TEST(a_lock_that_cannot_renew_is_refused) {
    const struct lb_lock *lock = lock_with(LB_CAP_LEASE, LB_CAP_RENEW);
    struct lb_err err = {0};
    if (!lock) skip_for("this build has no lock with a lease that can't be renewed");
    assert_null(load("[acquire]\nrenew = yes\n", lock->name, NULL, &err));
    assert_int_equal(err.code, LB_EXIT_USAGE);
    assert_non_null(strstr(err.text, "can't renew its lease"));
}

/* --dry-run's text is a workload file that gives the same plan, and the same JSON. */
TEST(a_printed_plan_reads_back) {
    static const char *const texts[] = {
        "",
        "[load]\nkeys = 9 zipf:0.7\nkey_names = orders/7,42\n",
        "[load]\nclients = 1, 3, 9\nkeys = 500 zipf:0.7\nhold = lognormal:1.5ms:0.3\nthink = "
        "exponential:250us\nseed = 99\n"
        "threads = 4\nprocesses = 2\n[acquire]\nmode = timed\ntimeout = 1.001s\nlease = "
        "1234567ns\n[run]\nrepeat = 3\n"
        "drain = 90s\n[check]\ngap = none\n[workload]\nname = odd_one\nsummary = why, you ask: \"this\" = "
        "that\n"
        "[sim]\nservice = 7us\ndouble_every = 3\n",
        "[load]\nclients = 4\nkeys = own\narrival = constant:333.25\n[acquire]\nmode = try\nrenew = "
        "yes\n[servers]\n"
        "durability = none\n[workload]\nlocks = unsafe-none, all\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct lb_err err = {0};
        struct plan *plan = taken(texts[i], NULL, NULL);
        char *first = printed(plan);
        json_t *json = plan_json(plan);
        plan = load(first, NULL, NULL, &err);
        if (!plan) fail_msg("%s in:\n%s", err.text, first);
        char *second = printed(plan);
        json_t *again = plan_json(plan);
        assert_string_equal(first, second);
        assert_true(json_equal(json, again));
        json_decref(json);
        json_decref(again);
        free(first);
        free(second);
    }
}

TEST(names_of_keys_are_as_many_as_keys) {
    struct plan *plan = taken("[load]\nkeys = 500\nkey_names = orders/7, 42 \n", "null", NULL);
    assert_int_equal(plan->keys.count, 2);
    assert_int_equal(plan->key_names.count, 2);
    assert_string_equal(plan->key_names.item[0], "orders/7");
    assert_string_equal(plan->key_names.item[1], "42");
}

TEST(every_key_is_printed_and_in_json) {
    struct plan *plan = taken("", "null", NULL);
    char *text = printed(plan);
    json_t *json = plan_json(plan);
    for (const struct section *section = sections(); section->name; section++) {
        json_t *object = json_object_get(json, section->name);
        for (const struct lb_option *key = section->keys; !section->later && key->name; key++) {
            char line[80], name[80], allowed[256];
            snprintf(line, sizeof line, "\n%s = ", key->name);
            assert_non_null(strstr(text, line));
            snprintf(name, sizeof name, "%s_ns", key->name);
            assert_true(json_object_get(object, key->name) || json_object_get(object, name));
            assert_string_not_equal(key->help, "");
            assert_string_not_equal(option_allowed(key, allowed, sizeof allowed), "");
        }
    }
    json_decref(json);
    free(text);
}

/* workloads/README.md is written by hand; it must not forget a key, or a workload, or tell another
 * default. */
TEST(the_readme_names_every_key_and_workload) {
    char file[PATH_MAX + 16], line[1000], wanted[200];
    static char text[40000];
    struct workload_list list;
    struct lb_err err = {0};
    snprintf(file, sizeof file, "%s/README.md", folder);
    FILE *in = fopen(file, "r");
    assert_non_null(in);
    while (fgets(line, sizeof line, in)) strncat(text, line, sizeof text - strlen(text) - 1);
    fclose(in);
    for (const struct section *section = sections(); section->name; section++) {
        for (const struct lb_option *key = section->keys; !section->later && key->name; key++) {
            bool shown = key->def && *key->def;
            snprintf(wanted, sizeof wanted, "\n| `%s.%s` | %s%s%s", section->name, key->name,
                     shown ? "`" : "", shown ? key->def : "", shown ? "` |" : "");
            if (!strstr(text, wanted)) fail_msg("not in the README: %s", wanted + 1);
        }
    }
    assert_int_equal(workloads_find(folder, &list, &err), 0);
    for (int i = 0; i < list.count; i++) {
        if (strncmp(list.item[i].name, "check/", strlen("check/")) == 0)
            continue; /* `list faults` */
        snprintf(wanted, sizeof wanted, "\n| `%s` |", list.item[i].name);
        if (!strstr(text, wanted)) fail_msg("not in the README: %s", wanted + 1);
    }
    workloads_done(&list);
}

/* What was not given is no option of the plan that is read again: drivers refuse options that do not suit the URL. */
TEST(a_printed_plan_gives_no_option_that_was_not_given) {
    char *text = printed(shipped("smoke", "redis-setnx"));
    assert_non_null(strstr(text, "\n; tls_ca ="));
    assert_null(strstr(text, "\ntls_ca ="));
    assert_non_null(strstr(text, "\ntls_verify = auto"));
    free(text);
}

/* ---- faults ---- */

#define PROCESSES "[load]\nclients = 4\nprocesses = 4\n"

TEST(several_sections_are_read) {
    struct plan *plan =
        taken(PROCESSES "[fault]\nkind = wire-cut\ntarget = replication\nfirst = 1s\nfor = 0\n"
                        "[fault.2]\nkind = server-kill\ntarget = primary\nfirst = 1500ms\nfor = 0\n"
                        "after = holder\n"
                        "[fault.3]\nkind = promote\ntarget = 1\nfirst = 1600ms\n"
                        "[fault.8]\nkind = wire-drop\ntarget = holder\n"
                        "every = 2s\ntimes = 4\n",
              "null", SETS("fault.3.target=2", "fault.4.kind=clock", "fault.4.by=-60s"));
    const struct plan_fault *f = plan->faults;
    assert_int_equal(f[0].kind, INJECT_WIRE_CUT);
    assert_int_equal(f[0].target, TARGET_REPLICATION);
    assert_int_equal(f[0].for_ns, 0);
    assert_int_equal(f[0].way, WAY_BOTH);
    assert_int_equal(f[1].kind, INJECT_SERVER_KILL);
    assert_int_equal(f[1].target, TARGET_PRIMARY);
    assert_int_equal(f[1].after, AFTER_HOLDER);
    assert_int_equal(f[2].kind, INJECT_PROMOTE);
    assert_int_equal(f[2].target, TARGET_NODE);
    assert_int_equal(f[2].node, 2);
    assert_int_equal(f[2].first_ns, 1600 * LB_MS_NS);
    assert_int_equal(f[3].by_ns, -60 * LB_S_NS);
    assert_int_equal(f[4].kind, INJECT_NONE);
    assert_int_equal(f[7].times, 4);
    assert_int_equal(f[7].every_ns, 2 * LB_S_NS);
    char text[160];
    assert_string_equal(faults_text(plan, text, sizeof text),
                        "wire-cut+server-kill+promote+clock+wire-drop");
}

TEST(every_kind_has_its_name) {
    for (int kind = 1; kind < INJECTIONS; kind++) {
        char text[400];
        snprintf(text, sizeof text, PROCESSES "[fault]\nkind = %s\nby = 1s\n",
                 injections[kind].name);
        struct plan *plan = taken(text, "null", NULL);
        assert_int_equal(plan->faults[0].kind, kind);
        assert_int_not_equal(injections[kind].on, ON_NOTHING);
    }
}

/* Faults on servers and all wires act with the clients in this process too. */
TEST(servers_and_wires_need_no_processes) {
    taken("[fault]\nkind = server-kill\n[fault.2]\nkind = wire-reset\ntarget = all\n"
          "[fault.3]\nkind = starve\ntarget = holder\n",
          "null", NULL);
}

/* A fault that meets no holder is no trial. Where holds are short and the fault does not look for its victim, it waits
 * until a client holds; of many faults some meet one. */
TEST(a_scenario_meets_a_holder) {
    struct workload_list list;
    struct lb_err err = {0};
    assert_int_equal(workloads_find(folder, &list, &err), 0);
    int waiting = 0;
    for (int i = 0; i < list.count; i++) {
        const char *name = list.item[i].name;
        if (strncmp(name, "check/", 6) != 0) continue;
        struct plan *plan = shipped(name, "null");
        const struct plan_fault *first = &plan->faults[0];
        bool seeks = first->target == TARGET_HOLDER || first->target == TARGET_WAITER;
        bool few = first->times > 0 ? first->times < 6 : first->every_ns == 0;
        bool waits =
            first->kind != INJECT_NONE && !seeks && few && plan->hold.mean_ns < 2 * LB_S_NS;
        if (waits && first->after != AFTER_HOLDER) fail_msg("%s: waits for nobody", name);
        waiting += waits;
    }
    assert_true(waiting >= 3);
    workloads_done(&list);
}

TEST_MAIN(find_folder, remove_path)
