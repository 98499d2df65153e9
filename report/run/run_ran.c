/* run_ran: what ran where: locks, servers and machines in sentences. See run_doc.h. */
#include "report/run/run_doc.h"

#include <string.h>

/* ---- sentences ---- */

#define SERVERS_SAID 6

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

void run_ran(const struct report *report, struct doc *doc) {
    const struct run *run = report->run;
    char of_asked[24] = "", machine[WORDS_MACHINE_MAX];
    int locks = report->lock_count, asked = locks + report_count_not_reached(run);
    if (asked > locks) snprintf(of_asked, sizeof of_asked, " of %d", asked);
    doc_say(doc, TONE_PLAIN, "Ran: %s, %d%s lock%s in %d stage%s",
            doc_or(run->workload, "a workload without a name"), locks, of_asked,
            asked == 1 ? "" : "s", run->stage_count, run->stage_count == 1 ? "" : "s");
    add_server_names(doc, run);
    words_machine(run->environment, machine, sizeof machine);
    doc_span(doc, DOC_PLAIN, "%s%s%s.", *machine ? "; " : "",
             *machine && json_array_size(run->hosts) > 0 ? "coordinator (rank 0) on " : "",
             machine);
}
