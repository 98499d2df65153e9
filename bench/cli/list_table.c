/* list_table: every lock as a row of Markdown; drivers/README.md has the output. It asks nothing of
 * the machine, so it is the same everywhere. */
#include "bench/cli/list_about.h"
#include "drivers/registry.h"

/* One cell; a bar would end it. */
static void cell(const char *text, FILE *out) {
    fputs(" ", out);
    for (; text && *text; text++) {
        if (*text == '|') fputc('\\', out);
        fputc(*text, out);
    }
    fputs(" |", out);
}

static void row(const struct lb_lock *lock, FILE *out) {
    char requests[40], crash[120];
    fprintf(out, "| `%s` | %s |", lock->name, lb_primitive_name(lock->primitive));
    cell(lock->about.compatible, out);
    cell(about_requests(lock, requests, sizeof requests), out);
    cell(lock->waits, out);
    cell(lock->about.order, out);
    cell(about_crash(lock, crash, sizeof crash), out);
    cell(lock->about.token, out);
    cell(about_guarantee(lock), out);
    cell(lock->about.hazards, out);
    fputc('\n', out);
}

static void row_of_control(const struct lb_lock *lock, FILE *out) {
    fprintf(out, "| `%s` |", lock->name);
    cell(lock->about.mistake, out);
    cell(lock->about.exposed_by ? lock->about.exposed_by : "any contention", out);
    cell(about_exposed(lock), out);
    fputc('\n', out);
}

/* --- under faults --- */

static const struct lb_expectation *table_of(const struct lb_lock *lock) {
    return lb_expected(lock, LB_SCENARIO_NONE);
}

/* Whether an earlier lock has the very same table: then it has named this one in its row. */
static bool is_named(int at) {
    for (int i = 0; i < at; i++) {
        if (table_of(registry_locks()[i]) == table_of(registry_locks()[at])) return true;
    }
    return false;
}

static bool states_any(const struct lb_lock *lock, enum lb_scenario from, enum lb_scenario to) {
    for (int fault = from; fault < (int)to; fault++) {
        if (lb_expected(lock, (enum lb_scenario)fault)->worst != LB_EXPECT_UNSTATED) return true;
    }
    return false;
}

static bool agree(const struct lb_lock *one, const struct lb_lock *other, enum lb_scenario from,
                  enum lb_scenario to) {
    for (int i = from; i < (int)to; i++) {
        enum lb_scenario fault = (enum lb_scenario)i;
        if (lb_expected(one, fault)->worst != lb_expected(other, fault)->worst) return false;
    }
    return true;
}

/* Of all locks with one table. */
static void names(int at, const char *before, FILE *out) {
    for (int i = at; registry_locks()[i]; i++) {
        if (table_of(registry_locks()[i]) != table_of(registry_locks()[at])) continue;
        fprintf(out, "%s`%s`", before, registry_locks()[i]->name);
        before = ", ";
    }
}

static void signs(const struct lb_lock *lock, enum lb_scenario from, enum lb_scenario to,
                  FILE *out) {
    static const char *const sign[] = {"", "+", "e", "s", "!"};
    fputs(" |", out);
    for (int fault = from; fault < (int)to; fault++)
        cell(sign[lb_expected(lock, (enum lb_scenario)fault)->worst], out);
    fputc('\n', out);
}

/* Some of the faults. Locks with one table share a row, and neighbours that agree; those that state
 * nothing of these faults have none. */
static void faults_table(const char *title, enum lb_scenario from, enum lb_scenario to, FILE *out) {
    const struct lb_lock *last = NULL;
    fprintf(out, "\n| %s |", title);
    for (int fault = from; fault < (int)to; fault++)
        fprintf(out, " %s |", lb_scenario_name((enum lb_scenario)fault));
    fprintf(out, "\n|---|");
    for (int fault = from; fault < (int)to; fault++) fputs(":-:|", out);
    fputc('\n', out);
    for (int i = 0; registry_locks()[i]; i++) {
        const struct lb_lock *lock = registry_locks()[i];
        if (is_named(i) || !states_any(lock, from, to)) continue;
        bool joins = last && agree(last, lock, from, to);
        if (last && !joins) signs(last, from, to, out);
        names(i, joins ? ", " : "| ", out);
        last = lock;
    }
    if (last) signs(last, from, to, out);
}

static void all_faults_tables(FILE *out) {
    fprintf(
        out,
        "\nThe worst that may show under each fault of `lockbench check`: + safe, e expired (a holder "
        "outlives its lease or session: only\na fencing token saves the data), s stuck (nobody gets "
        "it any more, or far too late), ! violated (two holders, or its state\nis lost); blank: not "
        "stated. `lockbench list NAME` gives the reasons.\n");
    faults_table("clients", LB_SCENARIO_NONE, LB_SCENARIO_SERVER_PAUSE, out);
    faults_table("servers", LB_SCENARIO_SERVER_PAUSE, LB_SCENARIO_WIRE_DELAY, out);
    faults_table("wires", LB_SCENARIO_WIRE_DELAY, LB_SCENARIOS, out);
}

void about_table(FILE *out) {
    fprintf(
        out,
        "| lock | primitive | excludes, and is excluded by | requests | waits by | order | a dead "
        "holder's is freed | fencing token | truth lives on | hazards |\n"
        "|---|---|---|---|---|---|---|---|---|---|\n");
    for (int i = 0; registry_locks()[i]; i++) {
        if (!(registry_locks()[i]->caps & LB_CAP_CONTROL)) row(registry_locks()[i], out);
    }
    fprintf(out, "\nBroken on purpose, so that the checks are seen to see:\n\n"
                 "| control | the mistake | exposed by | as |\n"
                 "|---|---|---|---|\n");
    for (int i = 0; registry_locks()[i]; i++) {
        if (registry_locks()[i]->caps & LB_CAP_CONTROL) row_of_control(registry_locks()[i], out);
    }
    all_faults_tables(out);
}
