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
        struct plan_wish wish = {.workload = list.item[i].name, .folder = folder, .locks = "null"};
        struct plan *plan = plan_load(&wish, &err);
        if (!plan) fail_msg("%s: %s", list.item[i].name, err.text);
        const char *slash = strrchr(list.item[i].name, '/'); /* check/pause */
        assert_string_equal(plan->name, slash ? slash + 1 : list.item[i].name);
        assert_string_not_equal(plan->summary, "");
        assert_string_equal(plan->summary, list.item[i].summary);
        if (json_array_size(plan->warnings)) {
            fail_msg("%s: %s", list.item[i].name,
                     json_string_value(json_array_get(plan->warnings, 0)));
        }
        plan_free(plan);
        /* And with the locks that it asks for; a build may lack the library that all of them
         * need. */
        wish.locks = NULL;
        plan = plan_load(&wish, &err);
        if (!plan && err.code != LB_EXIT_MACHINE) fail_msg("%s: %s", list.item[i].name, err.text);
        plan_free(plan);
    }
    workloads_done(&list);
}

TEST(the_short_tour_is_short) {
    struct plan_wish wish = {.workload = "compare", .folder = folder, .locks = "null"};
    struct lb_err err = {0};
    struct plan *plan = plan_load(&wish, &err);
    assert_non_null(plan);
    assert_int_equal(plan_stages(plan), 2 * 7);
    assert_true(13 * plan_time_ns(plan) < 110 * LB_S_NS);
    plan_free(plan);
}

/* A holder whose renewals were held back renews once more, while another client holds: a lock that does not look whose
 * lease it renews is found by nothing else. */
TEST(a_starved_holder_renews_too_late) {
    struct plan_wish wish = {
        .workload = "check/starved-renewal", .folder = folder, .locks = "null"};
    struct lb_err err = {0};
    struct plan *plan = plan_load(&wish, &err);
    assert_non_null(plan);
    const struct plan_fault *fault = &plan->faults[0];
    int64_t over_ns = fault->first.to_ns + fault->for_ns, every_ns = plan->lease_ns / 3;
    assert_true(over_ns + every_ns + 100 * LB_MS_NS < plan->hold.mean_ns);
    plan_free(plan);
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

TEST(wrong_input_is_one_clear_line) {
    static const struct refusal cases[] = {
        REFUSED("[load]\nclients = 0\n", ".ini:2: load.clients", "0 is not between 1 and 2000000",
                "1..64 x2"),
        REFUSED("[load]\nclient = 1\n", ".ini:2: load.client", "did you mean 'clients'?"),
        REFUSED("[load]\nreaders = 50\n", ".ini:2: load.readers", "it belongs to [acquire]"),
        REFUSED("[laod]\nclients = 1\n", ".ini:2: laod.clients", "no section [laod]",
                "did you mean 'load'?"),
        REFUSED("[run]\nclients = 1\n", ".ini:2: run.clients", "it belongs to [load]"),
        REFUSED("[run]\nduration = 100\n", ".ini:2: run.duration", "lacks its unit", "10ms to 24h"),
        REFUSED("[run]\nduration =\n", ".ini:2: run.duration", "the value is missing",
                "10ms to 24h"),
        REFUSED("[run]\nduration = 0\n", ".ini:2: run.duration", "0 is not between 10ms and 24h"),
        REFUSED("[run]\nrepeat = -1\n", ".ini:2: run.repeat", "-1 is not between 1 and 1000"),
        REFUSED("[load]\nseed = 99999999999999999999\n", "load.seed", "0 to 999999999999999"),
        REFUSED("[acquire]\nmode = timd\n", ".ini:2: acquire.mode", "did you mean 'timed'?"),
        REFUSED("[acquire]\nmode = timed\n", "acquire.timeout", "needs one"),
        REFUSED("[acquire]\nreaders = 101\n", "acquire.readers", "not between 0 and 100",
                "0 to 100, a list"),
        REFUSED("[acquire]\nreaders = 0..100 x2\n", "acquire.readers", "0 times anything"),
        REFUSED("[acquire]\npermits = 5\n", "acquire.permits", "more than acquire.bound = 4"),
        REFUSED("[acquire]\nkeys_at_once = 2\n", "acquire.keys_at_once", "load.keys has fewer"),
        REFUSED("[load]\nkey_names = a,b,a\n", ".ini:2: load.key_names", "'a' is there twice"),
        REFUSED("[load]\nkey_names = a,,b\n", ".ini:2: load.key_names", "1 to 95 bytes"),
        REFUSED("[load]\nkeys = own\nkey_names = a\n", ".ini:3: load.key_names", "own"),
        REFUSED("[load]\nsession = every\n", "load.session", "keep or each"),
        REFUSED("[load]\nclients_per_session = 2\n", "load.clients_per_session", "1 at most"),
        REFUSED("[load]\nsession = each\nclients = 2\nclients_per_session = 2\n",
                "load.session = each", "clients_per_session = 1"),
        REFUSED("[check]\nstock = 5\n", ".ini:2: check.stock", "removed in 0.2.0: check.store"),
        REFUSED("[acquire]\nkey_order = opposite\n", ".ini:2: acquire.key_order",
                "keys_at_once = 2"),
        REFUSED("[fault]\nkind = kill\n", "fault.kind", "load.processes"),
        REFUSED("[servers]\ntopology = reds\n", "servers.topology", "did you mean 'redis'?"),
        REFUSED("[workload]\nlocks = latc\n", "workload.locks", "no lock 'latc'"),
        REFUSED("[acquire]\nlease = 0\n", ".ini:2: acquire.lease", "not between 1ms and 24h"),
        REFUSED("[load]\nclients = 2\nthreads = 3\n", ".ini:3: load.threads = 3",
                "more threads than clients"),
        REFUSED("[load]\nclients = 2\nprocesses = 3\n", ".ini:3: load.processes = 3",
                "than clients"),
        REFUSED("[load]\nclients = 8\nthreads = 2\nprocesses = 3\n", ".ini:4: load.processes",
                "threads = 2"),
        REFUSED("[load]\narrival = poisson\n", ".ini:2: load.arrival", "needs a rate"),
        REFUSED("[load]\narrival = poisson:200/s,poisson:500/s\n", ".ini:2: load.arrival",
                "one arrival process only; several rates are load.rates = 200, 500"),
        REFUSED("[load]\nrate = 200\n", ".ini:2: load.rate", "did you mean 'rates'?"),
        REFUSED("[load]\nby = 1s\n", ".ini:2: load.by", "it belongs to [fault]"),
        REFUSED("[load]\narrival = poisson:5\nthink = 1ms\n", ".ini:3: load.think", "schedule"),
        REFUSED("[load]\ntick = 1s\narrival = poisson:5\n", ".ini:2: load.tick",
                "load.arrival = closed"),
        REFUSED("[load]\ntick = 1s\nkeys = 2\n", ".ini:2: load.tick", "load.keys = 1"),
        REFUSED("[load]\ntick = 1s\nkeys = own\n", ".ini:2: load.tick", "load.keys = 1"),
        REFUSED("[load]\ntick = 1s\nthink = 1s\n", ".ini:3: load.think", "below load.tick"),
        REFUSED("[load]\ntick = 1m\n", ".ini:2: load.tick", "no tick lies in the window"),
        REFUSED("[load]\nhold = window\n[acquire]\nat_least = 1s\n[run]\nwarmup = 0\n",
                ".ini:4: acquire.at_least", "leave out one of the two"),
        REFUSED("[load]\nhold = window\n[run]\nwarmup = 1s\n", "load.hold", "set run.warmup = 0"),
        REFUSED("[load]\nthink = window\n", ".ini:2: load.think",
                "only a hold can last as long as the window"),
        REFUSED("[load]\nkeys = 1 zipf:1\n", ".ini:2: load.keys", "two keys or more"),
        REFUSED("[servers]\ndurability = synk\n", ".ini:2: servers.durability", "'sync'"),
        REFUSED("[workload]\nname = ../x\n", ".ini:2: workload.name"),
        REFUSED("[workload]\nlocks = nul\n", ".ini:2: workload.locks", "no lock 'nul'",
                "did you mean 'null'?"),
        REFUSED("[workload]\nlocks = null,\n", ".ini:2: workload.locks", "missing between commas"),
        REFUSED("[workload]\nsummary = \xff\xfe\n", ".ini:2: workload.summary", "UTF-8"),
        REFUSED("[sim]\nservice = -1ms\n", ".ini:2: sim.service", "allowed: a duration, 0 to 1m"),
        REFUSED("[sim]\nservce = 1ms\n", ".ini:2: sim.servce", "did you mean 'service'?"),
        REFUSED("[null]\nservice = 1ms\n", ".ini:2: null.service", "no such key"),
        {"", NULL, "nul", {"no lock 'nul'", "did you mean 'null'?"}},
        {"", NULL, "exec", {"exec can't run without exec.program: --set exec.program=VALUE"}},
        {"", NULL, "", {"missing between commas"}},
        {"", "load.clients=0", NULL, {"--set load.clients: 0 is not between"}},
        {"", "load.clients=", NULL, {"load.clients", "missing"}},
        {"", "load.threads=0", NULL, {"load.threads", "auto"}},
        {"", "clients=4", NULL, {"--set clients=4", "--set load.clients=4"}},
        {"", "load.clients", NULL, {"--set load.clients", "SECTION.KEY=VALUE"}},
        {"", "", NULL, {"SECTION.KEY=VALUE"}},
        {"", "=", NULL, {"SECTION.KEY=VALUE"}},
        {"", ".=", NULL, {"no section []"}},
        {"", "workload.summary=a ; b", NULL, {"behind a blank"}},
    };
    assert_refused(cases, sizeof cases / sizeof *cases, NULL);
}

TEST(unknown_workloads_get_the_nearest) {
    static const struct {
        const char *wish, *why;
    } cases[] = {
        {"contendet", "did you mean 'contended'?"},
        {"xyzzy", "there are: capacity, catalogue"},
        {"no/such.ini", "no/such.ini: No such file"},
        {"such.ini", "such.ini: No such file"},
        {"", "no workload ''"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct plan_wish wish = {.workload = cases[i].wish, .folder = folder};
        struct lb_err err = {0};
        assert_null(plan_load(&wish, &err));
        assert_int_equal(err.code, LB_EXIT_USAGE);
        if (!strstr(err.text, cases[i].why)) fail_msg("%s: %s", cases[i].wish, err.text);
    }
}

/* In a closed loop no request waits for a client. */
TEST(a_promise_of_acquire_in_a_closed_loop_is_no_mistake) {
    struct plan *plan = taken("[slo]\npromises = acquire.p99<=1s\n", "mem-mutex", NULL);
    assert_int_equal(json_array_size(plan->warnings), 0);
}

TEST(odd_but_allowed_is_warned_about) {
    static const struct {
        const char *text, *warning;
    } cases[] = {
        {"[acquire]\ntimeout = 1s\n", "acquire.timeout has no effect"},
        {"[acquire]\nmode = try\n", "asks again at once"},
        {"[load]\nhold = 6s\n", "longer than run.duration"},
        {"[load]\nhold = 5ms\narrival = constant:1000\nclients = 8\n", "5 times"},
        {"[acquire]\nrenew = yes\n", "acquire.renew has no effect"},
        {"[load]\nprocesses = 2\nclients = 2\n[fault]\nkind = kill\nfirst = 5s\n",
         "nothing will happen"},
        /* its figure is the smaller one: the wait for a free client comes before it */
        {"[load]\narrival = poisson:9/s\n[slo]\npromises = acquire.p99<=1s, acquire_due.p99<=2s\n",
         "acquire.p99<=1s leaves out the wait for a free client; at a rate, a request waits from "
         "its due time: promise acquire_due"},
        {"[load]\narrival = poisson:9/s\n[slo]\npromises = acquire.max<=1s, latency_ns.acquire.count>=1\n",
         "acquire.max<=1s leaves out"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lb_err err = {0};
        struct plan *plan = load(cases[i].text, "mem-mutex", NULL, &err);
        if (!plan) fail_msg("%s: %s", cases[i].text, err.text);
        assert_int_equal(json_array_size(plan->warnings), 1);
        const char *text = json_string_value(json_array_get(plan->warnings, 0));
        if (!strstr(text, cases[i].warning)) fail_msg("%s: %s", cases[i].text, text);
    }
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
        "[load]\nclients = 1..9 x3\nkeys = 500 zipf:0.7\nhold = lognormal:1.5ms:0.3\nthink = "
        "exponential:250us\nseed = 99\n"
        "threads = 4\nprocesses = 2\n[acquire]\nmode = timed\ntimeout = 1.001s\nlease = "
        "1234567ns\n[run]\nrepeat = 3\n"
        "drain = 90s\n[check]\ngap = 50us\n[workload]\nname = odd_one\nsummary = why, you ask: \"this\" = "
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
        for (const struct lb_option *key = section->keys; key->name; key++) {
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

/* Whatever text a key takes, it prints a text that reads back as the same; whatever it refuses, it
 * explains. */
TEST(every_key_survives_any_text) {
    static const char *const parts[] = {
        "1",       "2",    "64",   "0",       "-",     ".",           "..",        " x",
        " +",      ",",    "ms",   "s",       "ns",    "h",           ":",         "zipf",
        "own",     " ",    "e",    "9999999", "wait",  "try",         "timed",     "closed",
        "poisson", "/s",   "none", "auto",    "yield", "exponential", "lognormal", "uniform",
        "default", "sync", "yes",  "0.5",     ""};
    struct lb_rng rng;
    int taken = 0;
    rng_seed(&rng, 11, 0);
    for (int round = 0; round < 60000; round++) {
        static struct plan plan, again;
        struct arena arena = {0};
        struct lb_err err = {0};
        char text[200] = "", first[4096] = "", second[4096] = "";
        const struct section *section = &sections()[rng_below(&rng, 7)];
        const struct lb_option *key = section->keys;
        while (key[1].name && rng_below(&rng, 8) > 0) key++;
        for (uint64_t n = 1 + rng_below(&rng, 5); n > 0; n--) {
            strcat(text, parts[rng_below(&rng, sizeof parts / sizeof *parts)]);
        }
        void *values = section_values(section, &plan, 0);
        if (option_read(key, values, text, &arena, &err)) {
            assert_true(err.code == LB_EXIT_USAGE && *err.text);
        } else {
            void *read_again = section_values(section, &again, 0);
            option_text(key, values, first, sizeof first);
            if (option_read(key, read_again, first, &arena, &err))
                fail_msg("%s: '%s' gave '%s': %s", key->name, text, first, err.text);
            assert_string_equal(first, option_text(key, read_again, second, sizeof second));
            taken++;
        }
        arena_done(&arena);
    }
    assert_true(taken > 1000);
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
        for (const struct lb_option *key = section->keys; key->name; key++) {
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
    struct lb_err err = {0};
    struct plan *plan = plan_load(
        &(struct plan_wish){.workload = "smoke", .folder = folder, .locks = "redis-setnx"}, &err);
    if (!plan) fail_msg("%s", err.text);
    char *text = printed(plan);
    plan_free(plan);
    assert_non_null(strstr(text, "\n; tls_ca ="));
    assert_null(strstr(text, "\ntls_ca ="));
    assert_non_null(strstr(text, "\ntls_verify = auto"));
    free(text);
}

TEST_MAIN(find_folder, remove_path)
