/* run_ran: what ran where: locks, servers and machines in sentences. See run_doc.h. */
#include "report/run/run_doc.h"

#include <math.h>
#include <string.h>

#include "report/run/differ.h"

/* ---- sentences ---- */

#define SERVERS_SAID 6
#define UNLIKE_SAID 6 /* differences of two plans, or of two machines */

/* True if an earlier server of the run has the same name and version, so that its sentence would be
 * said twice: a server that was started again, on another port or behind a wire. */
static bool is_same_again(const struct run *run, int server) {
    const struct run_server *mine = &run->servers[server];
    for (int i = 0; i < server; i++) {
        const struct run_server *other = &run->servers[i];
        if (strcmp(report_server_name(mine), report_server_name(other)) == 0 &&
            strcmp(doc_or(report_server_version(mine), ""),
                   doc_or(report_server_version(other), "")) == 0 &&
            report_is_yours(mine) == report_is_yours(other) &&
            (!report_is_yours(mine) || strcmp(doc_or(mine->url, ""), doc_or(other->url, "")) == 0))
            return true;
    }
    return false;
}

/* Adds "redis 7.0.15, zookeeper 3.8.0 and 3 more". An embedded backend has no server. */
static void add_server_names(struct doc *doc, const struct run *run) {
    int count = 0;
    for (int i = 0; i < run->server_count; i++) {
        const struct run_server *server = &run->servers[i];
        if (server->topology && strcmp(server->topology, "embedded") == 0) continue;
        if (is_same_again(run, i) || count++ >= SERVERS_SAID) continue;
        const char *version = report_server_version(server);
        bool yours = report_is_yours(server);
        doc_span(doc, DOC_PLAIN, "%s%s%s%s", count == 1 ? " on " : ", ", report_server_name(server),
                 version ? " " : "", version ? version : "");
        if (yours)
            doc_span(doc, DOC_PLAIN, " (yours%s%s)", server->url ? ": " : "",
                     doc_or(server->url, ""));
    }
    if (count > SERVERS_SAID) doc_span(doc, DOC_PLAIN, " and %d more", count - SERVERS_SAID);
}

/* Adds what ran on which servers, a line for each run. */
static void say_ran(struct doc *doc, const struct report *report) {
    char letter[8], of_asked[24], machine[WORDS_MACHINE_MAX];
    for (int r = 0; r < report->run_count; r++) {
        const struct run *run = report->runs[r];
        int locks = 0;
        for (int i = 0; i < report->lock_count; i++) locks += report->locks[i].run == r;
        int asked = locks + report_count_not_reached(run);
        if (asked > locks)
            snprintf(of_asked, sizeof of_asked, " of %d", asked);
        else
            of_asked[0] = '\0';
        doc_say(doc, TONE_PLAIN, "%s%s: %s, %d%s lock%s in %d stage%s",
                report->run_count > 1 ? "Run " : "Ran",
                report->run_count > 1 ? report_run_letter(r, letter) : "",
                doc_or(run->workload, "a workload without a name"), locks, of_asked,
                asked == 1 ? "" : "s", run->stage_count, run->stage_count == 1 ? "" : "s");
        add_server_names(doc, run);
        words_machine(run->environment, machine, sizeof machine);
        doc_span(doc, DOC_PLAIN, "%s%s%s.", *machine ? "; " : "",
                 *machine && json_array_size(run->hosts) > 0 ? "coordinator (rank 0) on " : "",
                 machine);
    }
}

/* Where the clients of a run were. */
static const char *place_of_clients(const struct run *run, char text[40]) {
    size_t hosts = 0;
    for (int s = 0; s < run->stage_count; s++) {
        size_t count = json_array_size(run->stages[s].hosts);
        if (count > hosts) hosts = count;
    }
    snprintf(text, 40, hosts == 0 ? "one machine" : "%zu load host%s", hosts,
             hosts == 1 ? "" : "s");
    return text;
}

/* Locks of such runs stand in one table, but their clients met under other conditions. */
static void say_unlike_hosts(struct doc *doc, const struct report *report) {
    char first[40], other[40], letter[2][8];
    for (int r = 1; r < report->run_count; r++) {
        place_of_clients(report->runs[0], first);
        if (strcmp(first, place_of_clients(report->runs[r], other)) == 0) continue;
        doc_say(
            doc, TONE_WARN,
            "The clients of run %s were on %s, those of run %s on %s: a difference between their locks may "
            "come from that alone.",
            report_run_letter(0, letter[0]), first, report_run_letter(r, letter[1]), other);
        return;
    }
}

/* True if a table has rows of both runs. */
static bool share_a_table(const struct report *report, int a, int b) {
    for (int g = 0; g < report->group_count; g++) {
        const struct report_group *group = &report->groups[g];
        bool has_a = false, has_b = false;
        for (int r = 0; r < group->row_count; r++) {
            int run = report->locks[group->rows[r].lock].run;
            has_a |= run == a;
            has_b |= run == b;
        }
        if (has_a && has_b) return true;
    }
    return false;
}

/* True for a difference that makes no figures of one table incomparable: names, seeds, the number of repeats, and which
 * locks and loads were chosen, since each of these has rows or tables of its own. */
static bool is_choice(const char *path, const char *was, const char *is) {
    static const char *const choices[] = {"plan.workload",     "plan.locks",      "plan.load.seed",
                                          "plan.load.clients", "plan.run.repeat", "plan.slo"};
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++)
        if (strncmp(path, choices[i], strlen(choices[i])) == 0) return true;
    /* the options of a lock that one of them did not have */
    bool one_only = strcmp(was, DIFFER_NONE) == 0 || strcmp(is, DIFFER_NONE) == 0;
    return one_only && strncmp(path, "plan.options", strlen("plan.options")) == 0;
}

/* The sentence about two runs, and the differences in it so far. */
struct unlike {
    struct doc *doc;
    const char *what, *first, *other; /* letters of the runs */
    int count;
};

static int add_unlike(void *to, const char *path, const char *was, const char *is) {
    struct unlike *unlike = to;
    if (is_choice(path, was, is)) return 0;
    if (unlike->count++ == 0)
        doc_say(unlike->doc, TONE_WARN,
                "Tables have rows of runs %s and %s, whose %s differ: ", unlike->first,
                unlike->other, unlike->what);
    if (unlike->count <= UNLIKE_SAID)
        doc_span(unlike->doc, DOC_PLAIN, "%s%s %s and %s", unlike->count > 1 ? ", " : "",
                 strchr(path, '.') + 1, was, is);
    return 0;
}

/* Says what differs between two objects, of the first run and of run r. */
static void say_unlike_objects(struct doc *doc, const char *what, const char *path,
                               const json_t *base, const json_t *new, int r) {
    char letter[2][8];
    struct unlike unlike = {.doc = doc,
                            .what = what,
                            .first = report_run_letter(0, letter[0]),
                            .other = report_run_letter(r, letter[1])};
    if (!base || !new) return;
    if (differ_objects(path, base, new, add_unlike, &unlike) != 0) doc->failed = true;
    if (unlike.count > UNLIKE_SAID)
        doc_span(doc, DOC_PLAIN, " and %d more", unlike.count - UNLIKE_SAID);
    if (unlike.count > 0) doc_span(doc, DOC_PLAIN, ".");
}

/* A table has the rows of one load, but its text leaves out much of a plan, such as leases, timeouts and options, and all
 * of the machines. */
static void say_unlike_plans(struct doc *doc, const struct report *report) {
    for (int r = 1; r < report->run_count; r++) {
        const struct run *first = report->runs[0], *run = report->runs[r];
        if (!share_a_table(report, 0, r)) continue;
        say_unlike_objects(doc, "plans", "plan", first->plan, run->plan, r);
        say_unlike_objects(doc, "machines", "environment", first->environment, run->environment, r);
    }
}

/* The number of runs from `from` to the one before `to` that have the plan of run r. */
static int count_same_plan(const struct report *report, int r, int from, int to) {
    int count = 0;
    for (int other = from; other < to; other++) count += report_same_plan(report, r, other);
    return count;
}

/* A reader of repeats expects medians; the rows of such runs are not ranked (report_group.repeated). */
static void say_same_plan(struct doc *doc, const struct report *report) {
    char letter[8];
    for (int r = 0; r < report->run_count; r++) {
        int count = count_same_plan(report, r, r, report->run_count);
        if (count < 2 || count_same_plan(report, r, 0, r) > 0) continue;
        doc_say(
            doc, TONE_WARN,
            "%d runs have the same plan, that of run %s. Their rows of one lock differ by chance, or "
            "because the machine, the servers or lockbench changed, so nothing is ranked beside them. For medians, "
            "repeat within a run (run.repeat); lockbench compare judges two sets of runs.",
            count, report_run_letter(r, letter));
        doc_set_shown(doc);
    }
}

void run_ran(const struct report *report, struct doc *doc) {
    say_ran(doc, report);
    say_unlike_hosts(doc, report);
    say_unlike_plans(doc, report);
    say_same_plan(doc, report);
}
