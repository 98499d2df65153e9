/* run_ran: what ran where: locks, servers and machines in sentences. See run_doc.h. */
#include "report/run/run_doc.h"

#include <string.h>

/* ---- sentences ---- */

#define SERVERS_SAID 6
#define RUNS_SAID 4

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

/* Adds what ran on which servers, a line for each of the first runs. */
static void say_ran(struct doc *doc, const struct report *report) {
    char letter[8], of_asked[24], machine[WORDS_MACHINE_MAX];
    int said = report->run_count > RUNS_SAID ? RUNS_SAID : report->run_count;
    for (int r = 0; r < said; r++) {
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
    if (said < report->run_count)
        doc_span(doc, DOC_PLAIN, " And %d more runs.", report->run_count - said);
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
    char first[40], other[40], letter[2][8], machine[2][WORDS_MACHINE_MAX];
    words_machine(report->runs[0]->environment, machine[0], sizeof machine[0]);
    for (int r = 1; r < report->run_count; r++) {
        place_of_clients(report->runs[0], first);
        words_machine(report->runs[r]->environment, machine[1], sizeof machine[1]);
        bool apart = strcmp(first, place_of_clients(report->runs[r], other)) != 0;
        if (!apart && strcmp(machine[0], machine[1]) == 0) continue;
        doc_say(
            doc, TONE_WARN,
            "The clients of run %s were on %s, those of run %s on %s: a difference between their "
            "locks may come from that alone.",
            report_run_letter(0, letter[0]), apart ? first : machine[0],
            report_run_letter(r, letter[1]), apart ? other : machine[1]);
        return;
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
    say_same_plan(doc, report);
}
