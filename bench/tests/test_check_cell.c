/* test_check_cell: the verdict on a cell of a check from results of runs that are made here: what counts as a trial, the
 * bound that trials give, the comparison with what was expected, and the runs of several seeds as one cell. */
#include <ctype.h>
#include <math.h>

#include "bench/tests/hdr_texts.h"
#include "bench/tests/unit.h"
#include "bench/tools/check/cell_result.h"
#include "results/format/write.h"

#define S_NS 1000000000LL

/* JSON with ' in the place of ", and 2s for 2,000,000,000. */
static json_t *json_of_text(const char *text) {
    char full[5000];
    size_t used = 0;
    json_error_t error;
    for (const char *at = text; *at; at++) {
        bool seconds = *at == 's' && at > text && isdigit((unsigned char)at[-1]);
        assert_true(used + 12 < sizeof full);
        if (seconds) used += (size_t)sprintf(full + used, "000000000");
        if (!seconds) full[used++] = *at == '\'' ? '"' : *at;
    }
    full[used] = '\0';
    json_t *json = json_loads(full, 0, &error);
    if (!json) fail_msg("%s: %s", error.text, full);
    return json;
}

static json_t *object_of(const char *members) {
    char text[2500];
    assert_true((size_t)snprintf(text, sizeof text, "{%s}", members) < sizeof text);
    return json_of_text(text);
}

/* A run with one stage that is fine: a fault at 1 s, grants before and after, recovered in time. */
static const char good[] =
    "{'schema':'lockbench.run/2','partial':false,"
    "'servers':[{'backend':'redis','facts':{'version':'7.0.15'}}],"
    "'stages':[{'lock':'redis-setnx','backend':'redis','topology':'redis','durability':'in memory',"
    "'status':'complete','clients':4,'lease_ns':2s,'exclusion':{'verdict':'clean','grants':300,"
    "'double_holders':0,'expired_holders':0,'lost_updates':0,'token_errors':0,'detected':0,'stuck':0},"
    "'fault':'pause','faults':[{'kind':'pause','section':'fault','acted':true,'from_s':1.2,'to_s':8.2,"
    "'sign':'it stood still'}],"
    "'series':[{'t_s':0.0,'ok':10},{'t_s':1.0,'ok':3},{'t_s':2.0,'ok':7}],"
    "'recovery':{'trials_ns':[2s,1s],'count':2,'min_ns':1s,'p50_ns':1s,'p90_ns':2s,'max_ns':2s,"
    "'theory_min_ns':0,'theory_max_ns':2s,'theory':'0 to the lease','unavailable_ns':3s,'grants_lost':0,"
    "'lost_wakeups':0},'history':{'model':'mutex','counterexample':[]},"
    "'store':{'stale_attempted':2,'stale_accepted_unfenced':1,'stale_rejected_fenced':2,"
    "'stale_accepted_fenced':0}}]}";

/* The good run with other members of its stage. "run" has those of the run itself, "first" those of the fault, "then"
 * those of further faults. Of a name that is there twice the last one counts. */
static json_t *run_with(const char *members) {
    json_t *run = json_of_text(good), *changes = object_of(members), *more;
    json_t *stage = json_array_get(json_object_get(run, "stages"), 0);
    json_t *first = json_object_get(changes, "first"), *then = json_object_get(changes, "then");
    size_t i;
    if (json_object_get(changes, "run"))
        json_object_update_recursive(run, json_object_get(changes, "run"));
    json_object_update_recursive(stage, changes);
    json_t *faults = json_object_get(stage, "faults");
    if (first) json_object_update_recursive(json_array_get(faults, 0), first);
    json_array_foreach(then, i, more) {
        json_t *fault = object_of("'kind':'pause','section':'fault','acted':true,'from_s':1.5,"
                                  "'to_s':null,'sign':'gone'");
        json_object_update_recursive(fault, more);
        json_array_append_new(faults, fault);
    }
    json_decref(changes);
    return run;
}

/* Frees the run; NULL = there is none. trouble: what went wrong around it. */
static struct cell_result result_of(json_t *root, const char *trouble, bool needs_fault) {
    struct cell_result result;
    struct lb_err err = {0};
    struct run *run = root ? run_from_json(root, "run.json", &err) : NULL;
    if (!run && !trouble) trouble = err.text;
    assert_int_equal(cell_result_of_run(run, trouble, needs_fault, &result, &err), 0);
    run_free(run);
    json_decref(root);
    return result;
}

static struct cell_result merged(struct cell_result a, struct cell_result b) {
    struct lb_err err = {0};
    assert_int_equal(cell_result_merge(&a, &b, &err), 0);
    cell_result_free(&b);
    return a;
}

/* The members of one are those of the other, which may have more. */
static void assert_part(const json_t *wanted, const json_t *seen) {
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)wanted, name, value) {
        json_t *is = json_object_get(seen, name);
        bool same = json_equal(is, value) ||
                    (json_is_number(is) && json_is_number(value) &&
                     fabs(json_number_value(is) - json_number_value(value)) < 1e-9);
        if (json_is_object(value) && json_is_object(is)) {
            assert_part(value, is);
        } else if (!same) {
            fail_msg("%s is %s, not %s", name, is ? json_dumps(is, JSON_ENCODE_ANY) : "not there",
                     json_dumps(value, JSON_ENCODE_ANY));
        }
    }
}

/* Fails unless check.json would have this of the cell; frees it. why NULL: nothing is to be said. */
static void assert_cell(struct cell_result result, const char *verdict, const char *why,
                        const char *has) {
    json_t *seen = result_fields_json(check_cell_fields(), &result.cell);
    const char *is = json_string_value(json_object_get(seen, "verdict"));
    const char *says = json_string_value(json_object_get(seen, "why"));
    if (strcmp(is, verdict) != 0) fail_msg("it is %s, not %s: %s", is, verdict, says ? says : "");
    if (why ? !says || !strstr(says, why) : says != NULL)
        fail_msg("it says '%s' and not '%s'", says ? says : "", why ? why : "");
    json_t *wanted = object_of(has ? has : "");
    assert_part(wanted, seen);
    json_decref(wanted);
    json_decref(seen);
    cell_result_free(&result);
}

struct judged {
    const char *with; /* members that the good run has not: see run_with */
    const char *verdict, *why;
    const char *has;     /* members of the cell; NULL = any */
    const char *trouble; /* around the run */
    bool calm;           /* no fault was wanted */
};

static void judge(const struct judged *all, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const struct judged *one = &all[i];
        print_message("case %zu: %s\n", i, one->with);
        assert_cell(result_of(run_with(one->with), one->trouble, !one->calm), one->verdict,
                    one->why, one->has);
    }
}

#define RUN(...)                                                                                   \
    { .with = __VA_ARGS__ }
#define JUDGE(name, ...)                                                                           \
    TEST(name) {                                                                                   \
        static const struct judged all[] = {__VA_ARGS__};                                          \
        judge(all, sizeof all / sizeof *all);                                                      \
    }

#define DOUBLE "'exclusion':{'verdict':'violated','double_holders':1}"
#define DOUBLE_WORDS "1 double holder"

JUDGE(what_is_fine_is_safe_with_its_bound,
      RUN("'durability_note':'kept in memory'", "safe",
          .has = "'durability_note':'kept in memory','grants':300,'bound95':0.95,"
                 "'server':'redis 7.0.15','topology':'redis','recovered':true,'stale_attempted':2,"
                 "'stale_accepted_unfenced':1,'stale_rejected_fenced':2,'unavailable_ns':3s,"
                 "'recovery_ns':{'max':2s,'theory_max':2s,'trials':[2s,1s]}"),
      /* to a client that came when the key may have been free for long */
      RUN("'recovery':{'count':0,'trials_ns':[],'unasked':1}", "safe", .has = "'recovered':true"))

JUDGE(each_bad_finding_has_its_verdict,
      RUN("'exclusion':{'verdict':'violated','double_holders':2}", "violated", "2 double holders",
          "'bound95':null"),
      RUN("'exclusion':{'verdict':'violated','token_errors':1}", "violated",
          "1 token that did not grow", "'bound95':null"),
      RUN("'exclusion':{'verdict':'stuck','stuck':1}", "stuck", "1 key that is free",
          "'bound95':null,'recovered':false"),
      RUN("'exclusion':{'verdict':'expired','expired_holders':3}", "expired", "3 expired holders",
          "'bound95':null"),
      RUN("'exclusion':{'verdict':'violated','revoked':2}", "violated",
          "2 grants lost inside their leases", "'bound95':null"),
      RUN("'exclusion':{'verdict':'expired','ended':1}", "expired", "1 session", "'bound95':null"),
      RUN("'store':{'stale_accepted_fenced':1}", "violated", "1 stale write that passed the fence",
          "'bound95':null"),
      /* one key that no client got back, whatever others did */
      RUN(DOUBLE ",'recovery':{'unrecovered':1}", "violated", DOUBLE_WORDS, "'recovered':false"))

/* They decide no verdict. A server that forgot its grants while nobody could ask it shows in nothing else; after a fault
 * of clients that is how the lock is meant to work. */
JUDGE(what_was_lost_is_told,
      RUN("'recovery':{'lost_wakeups':1}", "safe",
          "1 lost wake-up: the key had been free for longer than half a lease"),
      RUN("'recovery':{'lost_wakeups':2}", "safe", "2 lost wake-ups: "),
      RUN("'recovery':{'grants_lost':1}", "safe"),
      RUN("'recovery':{'grants_lost':1},'first':{'kind':'server-kill'}", "safe",
          "1 grant was lost, though no holder met another one"))

/* Holders stand still with lockbench, so an overlap may be its own: such a cell says nothing of the lock. */
#define STALLED(time)                                                                              \
    "'exclusion':{'verdict':'expired','expired_holders':1},'executor':{'stood_still_ns':" time "}"
JUDGE(a_stall_longer_than_the_lease_excuses_an_overlap,
      RUN(STALLED("1s"), "expired", "1 expired holder"),
      RUN(STALLED("3s"), "inconclusive",
          "lockbench itself stood still for 3.0 s, longer than the lease of 2.0 s"))

/* Thrice the theory and five seconds is still recovered; a little more is stuck. */
JUDGE(a_recovery_beyond_reason_is_stuck, RUN("'recovery':{'max_ns':11s}", "safe"),
      RUN("'recovery':{'max_ns':11000000001}", "stuck", "theory: 2.0 s", "'recovered':false"),
      RUN("'recovery':{'max_ns':100s,'theory_max_ns':null}", "safe"),
      /* ... but for the time that lockbench itself stood still */
      RUN("'recovery':{'max_ns':31s},'executor':{'stood_still_ns':20s}", "safe"),
      RUN("'recovery':{'max_ns':31000000001},'executor':{'stood_still_ns':20s}", "stuck",
          "theory: 2.0 s"))

/* A server was killed while so many clients held, of whom `outlasted` still did when it was back. */
#define RESTARTED(kind_, class, held, outlasted)                                                   \
    "'fault':'" kind_                                                                              \
    "','durability_class':'" class "','first':{'kind':'" kind_                                     \
                                   "','sign':'it listened again after 6.242 s','held':" held       \
                                   ",'tested':" held ",'outlasted':" outlasted                     \
                                   "},'recovery':{'unrecovered':0}"

/* A server that has lost its grants shows nothing if it comes back when all leases have ended: no grant was at stake. */
JUDGE(a_server_that_is_back_too_late_shows_nothing,
      RUN(RESTARTED("server-kill", "memory", "2", "0"), "inconclusive",
          "it listened again after 6.242 s", "'faults_hit':0"),
      RUN(RESTARTED("server-kill", "memory", "2", "1"), "safe", .has = "'faults_hit':1"),
      RUN(RESTARTED("server-kill", "memory", "0", "0"), "inconclusive", "no client held",
          "'faults_hit':0"),
      RUN(RESTARTED("server-kill", "disk", "2", "0"), "safe", .has = "'faults_hit':1"),
      RUN(RESTARTED("server-empty", "disk", "2", "0"), "inconclusive",
          "it listened again after 6.242 s", "'faults_hit':0"),
      RUN(RESTARTED("server-pause", "memory", "2", "0"), "safe", .has = "'faults_hit':1"),
      /* A second restart was in time; and what is wrong stays wrong. */
      RUN(RESTARTED("server-kill", "memory", "2", "0") ",'then':[{'kind':'server-kill'}]", "safe",
          .has = "'faults_hit':1"),
      RUN(RESTARTED("server-kill", "memory", "2", "0") "," DOUBLE, "violated", DOUBLE_WORDS,
          "'faults_hit':1"),
      /* The scenario itself waits out the lease; or another server serves. */
      RUN(RESTARTED("server-kill", "memory", "2", "0") ",'run':{'plan':{'fault':{'for_ns':4s}}}",
          "safe"),
      RUN(RESTARTED("server-kill", "memory", "2",
                    "0") ",'fault':'wire-cut+server-kill',"
                         "'then':[{'section':'fault.2','kind':'promote','from_s':1.3}]",
          "safe"))

#define SERIES(last) "'series':[{'t_s':0.0,'ok':10},{'t_s':1.0,'ok':3}," last "]"
#define UNTESTED "'exclusion':{'verdict':'untested','grants':1000,'tested':0}"

JUDGE(what_shows_nothing_is_inconclusive,
      RUN("'first':{'acted':false}", "inconclusive", "fault, pause, did not act: it stood still"),
      RUN("'first':{'acted':false}", "safe", .calm = true),
      RUN("'faults':[]", "inconclusive", "no fault acted"),
      RUN("'exclusion':{'grants':0}", "inconclusive", "ever granted"),
      RUN("'exclusion':{'verdict':'unchecked'}", "inconclusive",
          "nobody was granted anything in the window"),
      RUN(UNTESTED, "inconclusive", "no client ever waited for another", "'bound95':null",
          .calm = true),
      RUN(UNTESTED, "safe"),                                 /* the fault tested it */
      RUN(UNTESTED ",'control':true", "safe", .calm = true), /* a missed control */
      RUN("'exclusion':{'verdict':'starved'},'fairness':{'starved':2}", "inconclusive",
          "2 clients waited for the whole window", .calm = true),
      RUN(SERIES("{'t_s':2.0,'ok':0}") ",'recovery':{'count':0}", "inconclusive",
          "after the fault"),
      RUN("'then':[{'acted':false,'from_s':3.0}]", "safe")) /* it acted once */

/* Cut the replication, kill the primary: the cut alone shows nothing, and neither does what came before the kill. */
#define SECOND(members)                                                                            \
    "'fault':'wire-cut+server-kill','then':[{'section':'fault.2','kind':'server-kill'," members "}]"
JUDGE(all_parts_of_a_scenario_must_act,
      RUN("'fault':'wire-cut+server-kill'", "inconclusive",
          "1 of 2 faults (wire-cut+server-kill) acted"),
      RUN(SECOND("'acted':false,'sign':'nobody held'"), "inconclusive",
          "fault.2, server-kill, did not act: nobody held"),
      RUN(SECOND("'acted':false},{'section':'fault.2','kind':'server-kill','from_s':1.7"), "safe"),
      RUN(SECOND("'from_s':2.5"), "inconclusive", "after the fault"))

/* A server was killed at 1.2 s of 9 s, and was back at to_s (null: never), as the plan says; nobody got anything after
 * it, but for the `ok` in the second in which attempts of before end. */
#define DESERTED(to, for_, ok)                                                                     \
    "'duration_s':9.0,'recovery':{'count':0,'max_ns':null,'unrecovered':1},"                       \
    "'first':{'kind':'server-kill','to_s':" to "},'run':{'plan':{'fault':{'for_ns':" for_          \
    "}}}," SERIES("{'t_s':2.0,'ok':" ok "}")
#define NOBODY "no client got a grant in the"

JUDGE(
    who_does_not_come_back_with_its_servers_is_stuck,
    RUN(DESERTED("6.0", "4s", "0"), "stuck", NOBODY),
    RUN(DESERTED("null", "0", "0"), "stuck", NOBODY),
    RUN(DESERTED("null", "0", "2"), "stuck", NOBODY),
    /* A lock without holders has no history, and so no recovery: the series of its grants decides. */
    RUN(DESERTED("null", "0", "0") ",'recovery':null", "stuck", NOBODY),
    RUN(DESERTED("null", "0", "2") ",'recovery':null", "stuck", NOBODY),
    RUN(DESERTED("null", "0",
                 "2") ",'recovery':null," SERIES("{'t_s':2.0,'ok':2},{'t_s':8.0,'ok':2}"),
        "safe"),
    /* It came back too late to show a recovery, or did not come back although the plan says so. */
    RUN(DESERTED("6.5", "4s", "0"), "inconclusive", "after the fault"),
    RUN(DESERTED("null", "4s", "0"), "inconclusive", "after the fault"),
    /* Nobody can get a grant while lockbench itself stands still, nor while servers begin anew after that. */
    RUN(DESERTED("6.0", "4s", "0") ",'executor':{'stood_still_ns':1s}", "inconclusive",
        "nobody was granted anything after the fault; lockbench itself stood still for 1.0 s"),
    RUN(DESERTED("6.0", "4s", "0") ",'duration_s':11.0,'executor':{'stood_still_ns':1500000000}",
        "inconclusive", "after the fault"),
    /* After a fault of a client all servers are there. */
    RUN(DESERTED("6.0", "4s", "0") ",'first':{'kind':'pause','to_s':6.0}", "inconclusive",
        "after the fault"),
    /* "stuck" hides "expired", but not a violation. */
    RUN(DESERTED("6.0", "4s", "0") ",'exclusion':{'verdict':'expired'}", "stuck", NOBODY),
    RUN(DESERTED("6.0", "4s", "0") "," DOUBLE, "violated", DOUBLE_WORDS))

#define UNJUDGED(asked, kind)                                                                      \
    "'run':{'plan':{'check':{'history':" asked "}}},'primitive':'" kind "','history':null"
JUDGE(without_its_history_nothing_is_safe,
      RUN(UNJUDGED("true", "mutex"), "inconclusive", "history was not judged"),
      RUN(UNJUDGED("false", "mutex"), "safe"), RUN(UNJUDGED("true", "latch"), "safe"),
      RUN(UNJUDGED("true", "optimistic"), "safe"),
      RUN("'history':{'dropped':12}", "safe", "12 records of the history were lost"))

/* A violation that was seen before the failure counts. */
JUDGE(what_did_not_run_has_failed,
      RUN("'run':{'stages':[]}", "failed", "interrupted", .trouble = "interrupted"),
      RUN("'status':'partial','error':'the server ended'", "failed", "the server ended"),
      RUN("", "failed", "killed by signal 9", .trouble = "killed by signal 9"),
      RUN(DOUBLE, "violated", DOUBLE_WORDS, .trouble = "killed by signal 9"))

/* A file may come from anywhere. */
TEST(nothing_of_a_run_is_believed) {
    static const char *const texts[] = {
        "{}",
        "[]",
        "{'stages':{}}",
        "{'stages':[null]}",
        "{'stages':[[]]}",
        "{'stages':[{'exclusion':3}]}",
        "{'stages':[{'status':'complete','exclusion':{'grants':'many'},'faults':7,'recovery':[]}]}",
        "{'stages':[{'status':1,'recovery':{'max_ns':[],'trials_ns':5},'series':[4],'faults':[9]}]}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_cell(result_of(json_of_text(texts[i]), NULL, true), "failed", "run.json", NULL);
    assert_cell(result_of(NULL, "no such server", true), "failed", "no such server", NULL);
}

/* A workload with several stages (numbers of clients, topologies) is judged by the worst of them. */
TEST(all_stages_of_a_run_count) {
    json_t *run = run_with(""), *other = run_with(DOUBLE);
    json_array_extend(json_object_get(run, "stages"), json_object_get(other, "stages"));
    json_decref(other);
    assert_cell(result_of(run, NULL, true), "violated", DOUBLE_WORDS, "'grants':600");
}

/* ---- trials: a fault is one, if it acted while a victim held; without faults each grant that somebody waited for is
 * one. Three grants bound nothing. ---- */

#define HELD(n) "{'held':" n ",'tested':" n "},"
#define MISSED "{'acted':false,'from_s':2.0}"

JUDGE(the_bound_of_a_fault_counts_faults,
      RUN("'then':[" MISSED "]", "safe", .has = "'bound95':0.95,'faults_hit':1"),
      RUN("'then':[" HELD("2") HELD("2") MISSED "]", "safe",
          .has = "'bound95':0.631596850136,'faults_hit':3"),
      RUN("'then':[" HELD("2") HELD("0") HELD("2") HELD("0") MISSED "]", "safe",
          .has = "'bound95':0.631596850136,'faults_hit':3"),
      RUN(SECOND("'from_s':1.5"), "safe", .has = "'faults_hit':1"), /* all sections are one trial */
      RUN("'first':{'held':0,'tested':0}", "inconclusive",
          "no client held a grant when the fault acted", "'bound95':null,'faults_hit':0"),
      RUN("", "safe", .has = "'bound95':0.01,'faults_hit':null", .calm = true),
      RUN("'exclusion':{'grants':2}", "safe", .has = "'bound95':null", .calm = true))

/* A leader was killed while three clients held, of whose grants so many were put to the test. */
#define LEADERLESS(tested)                                                                         \
    "'fault':'server-kill','first':{'kind':'server-kill','held':3,'tested':" tested                \
    ",'injection':1}"
#define LEFT "not tested: who held when the fault acted had left"

/* A holder that had left before anybody could meet it is no trial, though the fault hit it. */
JUDGE(a_fault_that_nobody_could_fail_is_no_trial,
      RUN(LEADERLESS("0"), "inconclusive", LEFT,
          "'bound95':null,'faults_hit':0,'faults_untested':1"),
      RUN(LEADERLESS("1"), "safe", .has = "'bound95':0.95,'faults_untested':0"),
      RUN(LEADERLESS("0") "," DOUBLE, "violated", DOUBLE_WORDS, "'faults_hit':1"),
      /* A client that is stopped does not leave: what is missing is somebody who wants its key. */
      RUN("'first':{'process':3,'held':1,'tested':0}", "inconclusive",
          "not tested: no other client asked for the key of a holder that was hit"))

/* Three servers that are killed at once are one fault, and one of them is enough. */
#define OF(injection, tested) "{'kind':'server-kill','tested':" tested ",'injection':" injection "}"
JUDGE(an_injection_that_hits_several_servers_is_one_trial,
      RUN(LEADERLESS("1") ",'then':[" OF("1", "1") "," OF("1", "1") "," OF("2", "1") "]", "safe",
          .has = "'faults_hit':2"),
      RUN(LEADERLESS("0") ",'then':[" OF("1", "0") "," OF("1", "1") "," OF("2", "0") "]", "safe",
          .has = "'faults_hit':1,'faults_untested':1"))

/* Replication is cut, which any lock survives; the primary dies when nobody holds; a replica is promoted. The steps
 * before the last one only prepare it. */
#define STEPS(first_kind, held_, tested_)                                                          \
    "'fault':'wire-cut+server-kill+promote','first':{'kind':'" first_kind                          \
    "','held':2,'tested':2},"                                                                      \
    "'then':[{'section':'fault.2','kind':'server-kill','held':0,'tested':0},"                      \
    "{'section':'fault.3','kind':'promote','held':" held_ ",'tested':" tested_ "}]"
JUDGE(the_last_of_several_steps_decides,
      RUN(STEPS("wire-cut", "0", "0"), "inconclusive",
          "no client held a grant when the fault acted",
          "'bound95':null,'faults_hit':0,'faults_untested':1"),
      RUN(STEPS("wire-cut", "2", "0"), "inconclusive", LEFT),
      RUN(STEPS("wire-cut", "2", "1"), "safe", .has = "'bound95':0.95"),
      RUN(STEPS("promote", "0", "0"), "safe", .has = "'faults_hit':1"), /* of one kind: no steps */
      RUN(STEPS("wire-cut", "0", "0") "," DOUBLE, "violated", DOUBLE_WORDS, "'faults_hit':1"))

#define TESTED "'exclusion':{'grants':1000,'tested':10"
#define SHORT(inside, trip)                                                                        \
    TESTED ",'inside_mean_ns':" inside "},'latency_ns':{'ping':{'count':200,'hdr':'" HDR_200       \
           "','p50':" trip "}}"
#define HARDLY "hardly tested: holders were inside for 20 ms, and a round trip took 30 ms"

/* Holders that are inside for less than a round trip meet nobody; a fault is a trial whatever the holds are. */
JUDGE(the_bound_without_a_fault_counts_the_grants_that_tested,
      RUN(TESTED "}", "safe", .has = "'bound95':0.3,'tested':10", .calm = true),
      RUN(TESTED "}", "safe", .has = "'bound95':0.95"),
      RUN(SHORT("2000000", "2000000"), "safe", .has = "'bound95':0.3", .calm = true),
      RUN(SHORT("20000000", "30000000"), "safe", HARDLY, "'bound95':null", .calm = true),
      RUN(SHORT("20000000", "30000000"), "safe", .has = "'bound95':0.95"))

/* ---- several seeds ---- */

/* A run beside one that adds nothing but its count, and one that takes the bound from both. */
TEST(bounds_of_several_runs) {
    assert_cell(merged(result_of(run_with(LEADERLESS("1")), NULL, true),
                       result_of(run_with(LEADERLESS("0")), NULL, true)),
                "safe", NULL, "'bound95':0.95,'faults_untested':1");
    assert_cell(merged(result_of(run_with(TESTED "}"), NULL, false),
                       result_of(run_with("'exclusion':{'tested':20}"), NULL, false)),
                "safe", NULL, "'bound95':0.1");
    assert_cell(merged(result_of(run_with(TESTED "}"), NULL, false),
                       result_of(run_with(SHORT("20000000", "30000000")), NULL, false)),
                "safe", NULL, "'bound95':null");
}

/* One seed that came out so; its trials are its own. */
static struct cell_result one_seed(const char *verdict, int grants, int64_t trial_ns, int seed) {
    struct cell_result result = result_of(run_with(""), NULL, true);
    struct check_cell *cell = &result.cell;
    cell->verdict = CHECK_SAFE;
    while (strcmp(check_verdict_name(cell->verdict), verdict) != 0) cell->verdict++;
    cell->verdict_word = check_verdict_name(cell->verdict);
    cell->grants = grants;
    cell->seed = seed;
    cell->trials = cell_result_keep(&result, json_pack("[I]", (json_int_t)trial_ns));
    return result;
}

TEST(several_seeds_show_their_worst) {
    struct cell_result two =
        merged(one_seed("safe", 100, 3 * S_NS, 1), one_seed("expired", 50, 1 * S_NS, 2));
    /* whose evidence it is; the longest time, not the sum */
    assert_cell(merged(two, one_seed("safe", 200, 2 * S_NS, 3)), "expired", NULL,
                "'seed':2,'grants':350,'stale_attempted':6,'unavailable_ns':3s,'bound95':null,"
                "'recovery_ns':{'count':3,'min':1s,'p50':2s,'p90':3s,'max':3s}");
    struct cell_result a = one_seed("safe", 100, 1, 1), b = one_seed("safe", 200, 2, 2);
    a.cell.trials = cell_result_keep(&a, json_pack("[i, i]", 1, 9));
    b.cell.trials = cell_result_keep(&b, json_pack("[i, i]", 2, 3));
    assert_cell(merged(a, b), "safe", NULL,
                "'bound95':0.776393202250,'seed':1,'recovery_ns':{'trials':[1,2,3,9]}");
}

/* A failed seed makes a safe cell fail, and hides no bad finding of the other seeds. */
TEST(a_failed_seed_hides_what_is_fine_and_nothing_bad) {
    static const char *const order[] = {"safe",    "inconclusive", "failed",
                                        "expired", "stuck",        "violated"};
    for (int a = 0; a < 6; a++) {
        for (int b = 0; b < 6; b++)
            assert_cell(merged(one_seed(order[a], 1, 1, 1), one_seed(order[b], 1, 1, 2)),
                        order[a > b ? a : b], NULL, NULL);
    }
}

/* Nobody held when the only fault of this seed acted. */
static struct cell_result no_trial(const char *history) {
    char members[200];
    snprintf(members, sizeof members,
             "'first':{'held':0,'tested':0},'run':{'plan':{'check':{'history':true}}}%s", history);
    return result_of(run_with(members), NULL, true);
}

TEST(a_seed_without_a_trial_adds_no_trial) {
    static const char why[] = "no client held a grant when the fault acted";
    for (int first = 0; first < 2; first++) {
        struct cell_result safe = one_seed("safe", 100, 1, 1), none = no_trial("");
        none.cell.failed_runs = 1;
        safe.cell.failed_runs = 0;
        assert_cell(first ? merged(none, safe) : merged(safe, none), "safe", NULL,
                    "'faults_hit':1,'bound95':0.95,'failed_runs':0");
    }
    assert_cell(merged(no_trial(""), one_seed("violated", 1, 1, 2)), "violated", NULL, NULL);
    assert_cell(merged(no_trial(""), no_trial("")), "inconclusive", why, NULL);
    /* Without its record it might have shown a second holder. */
    assert_cell(merged(one_seed("safe", 1, 1, 1), no_trial(",'history':null")), "inconclusive", why,
                NULL);
    assert_cell(merged(one_seed("safe", 1, 1, 1), result_of(run_with(""), "Ctrl-C", true)),
                "failed", "Ctrl-C", NULL);
}

TEST(what_is_not_there_in_one_seed_is_kept_of_the_other) {
    struct cell_result a = one_seed("safe", 10, 5 * S_NS, 1), b = one_seed("safe", 1, 1, 2);
    a.cell.residue = 2;
    a.cell.residue_example = "key a";
    assert_cell(merged(result_of(NULL, "no server", true), a), "failed", "no server",
                "'residue':{'count':2},'stale_attempted':2,'recovery_ns':{'trials':[5s]}");
    a = one_seed("safe", 1, 1, 1);
    a.cell.residue = 0;
    b.cell.residue = 3;
    b.cell.residue_example = "key b";
    b.cell.recovered = 0;
    assert_cell(merged(a, b), "safe", NULL,
                "'residue':{'count':3,'example':'key b'},'recovered':false");
}

/* ---- what was expected, and the conformance suite ---- */

TEST(verdicts_are_compared_with_what_was_expected) {
    static const enum check_compared table[4][4] = {
        /* expected: safe, expired, stuck, violated */
        {CHECK_AS_EXPECTED, CHECK_BETTER, CHECK_BETTER, CHECK_BETTER}, /* seen: safe */
        {CHECK_WORSE, CHECK_AS_EXPECTED, CHECK_BETTER, CHECK_BETTER},  /* expired */
        {CHECK_WORSE, CHECK_WORSE, CHECK_AS_EXPECTED, CHECK_BETTER},   /* stuck */
        {CHECK_WORSE, CHECK_WORSE, CHECK_WORSE, CHECK_AS_EXPECTED},    /* violated */
    };
    static const enum check_verdict seen[] = {CHECK_SAFE, CHECK_EXPIRED, CHECK_STUCK,
                                              CHECK_VIOLATED};
    static const enum lb_expect expected[] = {LB_EXPECT_SAFE, LB_EXPECT_EXPIRED, LB_EXPECT_STUCK,
                                              LB_EXPECT_VIOLATED};
    for (int s = 0; s < 4; s++) {
        for (int e = 0; e < 4; e++)
            assert_int_equal(cell_result_compare(seen[s], expected[e]), table[s][e]);
        assert_int_equal(cell_result_compare(seen[s], LB_EXPECT_UNSTATED), CHECK_NOT_COMPARED);
    }
    assert_int_equal(cell_result_compare(CHECK_FAILED, LB_EXPECT_SAFE), CHECK_NOT_COMPARED);
    assert_int_equal(cell_result_compare(CHECK_INCONCLUSIVE, LB_EXPECT_VIOLATED),
                     CHECK_NOT_COMPARED);
    assert_string_equal(check_compared_name(CHECK_AS_EXPECTED), "as expected");
    assert_null(check_compared_name(CHECK_NOT_COMPARED));
}

/* A check that failed because two clients held at once decides, wherever it stands in the list; otherwise the first
 * check decides in which a call was wrongly granted or wrongly refused. */
TEST(a_suite_is_one_cell) {
    static const struct {
        const char *checks;
        int complete;
        enum check_verdict verdict;
        const char *why;
    } cases[] = {
        {"passed granted 0,left out granted 0", 1, CHECK_SAFE, "1 checks passed, 1 left out"},
        {"passed granted 0", 0, CHECK_FAILED, "it said so"},
        {"left out granted 0", 1, CHECK_FAILED, "0 checks passed"},
        {"passed wrong 0,failed wrong 0", 1, CHECK_FAILED, "'c1': because (1 of 2 checks failed)"},
        {"failed wrong 0,failed refused 0,failed granted 0", 1, CHECK_STUCK, "'c1'"},
        {"failed granted 0,failed refused 0", 0, CHECK_VIOLATED, "'c0'"},
        {"failed refused 0,failed wrong 1", 1, CHECK_VIOLATED, "'c1'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *checks = json_array();
        char text[200], *rest = text;
        snprintf(text, sizeof text, "%s", cases[i].checks);
        for (char *one; (one = strsep(&rest, ","));) {
            char *overlap = strrchr(one, ' '), name[8];
            *overlap = '\0';
            char *shown = strrchr(one, ' ');
            *shown = '\0';
            snprintf(name, sizeof name, "c%zu", json_array_size(checks));
            json_array_append_new(checks, json_pack("{s:s, s:s, s:s, s:s, s:b}", "check", name,
                                                    "result", one, "why", "because", "shown",
                                                    shown + 1, "overlap", overlap[1] == '1'));
        }
        json_t *suite = json_pack("{s:b, s:o}", "complete", cases[i].complete, "checks", checks);
        struct cell_result result;
        struct lb_err err = {0};
        assert_int_equal(cell_result_of_suite(suite, "it said so", &result, &err), 0);
        if (result.cell.verdict != cases[i].verdict || !strstr(result.cell.why, cases[i].why))
            fail_msg("%s: %s: %s", cases[i].checks, result.cell.verdict_word, result.cell.why);
        assert_true(isnan(result.cell.bound95));
        cell_result_free(&result);
        json_decref(suite);
    }
}

TEST_MAIN(NULL, NULL)
