/* test_check_cell: the verdict on a cell of a check from results of runs that are made here: what counts as a trial, the
 * bound that trials give, the comparison with what was expected, and the runs of several seeds as one cell. */
#include <ctype.h>
#include <math.h>

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
    "'theory_max_ns':2s,'grants_lost':0,"
    "'lost_wakeups':0},'history':{'model':'mutex','counterexample':[]},"
    "'store':{'stale_attempted':2,'stale_accepted_unfenced':1,'stale_rejected_fenced':2,"
    "'stale_accepted_fenced':0}}]}";

/* The good run with other members of its stage. "run" has those of the run itself, "first" those of the fault, "then"
 * those of further faults. Takes the changes. */
static json_t *run_changed(json_t *changes) {
    json_t *run = json_of_text(good), *more;
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

static json_t *run_with(const char *members) {
    return run_changed(object_of(members));
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

/* A run of a case of cells.txt. */
static struct cell_result result_told(const char *with, char *members) {
    char *trouble = NULL;
    bool calm = strncmp(members, "calm", 4) == 0;
    if (calm) members += 4;
    if (strncmp(members, "trouble ", 8) == 0) {
        trouble = members + 8;
        members = strchr(trouble, ';');
        *members++ = '\0';
    }
    json_t *changes = object_of(with), *more = object_of(members);
    json_object_update_recursive(changes, more);
    json_decref(more);
    return result_of(run_changed(changes), trouble, !calm);
}

/* A case of cells.txt: the runs of its seeds. */
static void check_case(const char *with, char *runs) {
    char *verdict = strstr(runs, " => ");
    if (!verdict) fail_msg("no verdict: %s", runs);
    char *why = strstr(verdict, " ! "), *has = strstr(verdict, " > ");
    *verdict = '\0';
    if (why) *why = '\0', why += 3;
    if (has) *has = '\0', has += 3;
    char *next = strstr(runs, " + ");
    if (next) *next = '\0', next += 3;
    struct cell_result result = result_told(with, runs);
    if (next) result = merged(result, result_told(with, next));
    assert_cell(result, verdict + 4, why, has);
}

TEST(each_case_has_its_verdict) {
    char line[1500], with[sizeof line] = "";
    FILE *file = fopen("bench/tests/cells.txt", "re");
    int checked = 0;
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        if (!*line || *line == '#') continue;
        print_message("%s\n", line);
        if (strncmp(line, "== ", 3) == 0)
            with[0] = '\0';
        else if (strncmp(line, "with ", 5) == 0)
            snprintf(with, sizeof with, "%s", line + 5);
        else
            check_case(with, line), checked++;
    }
    fclose(file);
    assert_true(checked > 60);
}

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
    json_t *run = run_with(""),
           *other = run_with("'exclusion':{'verdict':'violated','double_holders':1}");
    json_array_extend(json_object_get(run, "stages"), json_object_get(other, "stages"));
    json_decref(other);
    assert_cell(result_of(run, NULL, true), "violated", "1 double holder", "'grants':600");
}

/* ---- several seeds ---- */

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
                "'seed':2,'grants':350,'stale_attempted':6,'bound95':null,"
                "'recovery_ns':{'count':3,'min':1s,'p50':2s,'max':3s}");
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
