/* describe: asks the servers for their facts, and checks that their topology is complete. See
 * redis_impl.h. */
#include "drivers/redis/redis_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/facts.h"
#include "drivers/wait.h"

#define WHOLE_NS                                                                                   \
    (3 * LB_S_NS) /* servers that were just started become a cluster within this time */

/* The rest of an INFO's line that begins with name; NULL if there is none. */
static const char *info_line(const char *info, const char *name) {
    const char *at = strstr(info, name);
    return at ? at + strlen(name) : NULL;
}

/* Adds the version: "7.0.15" for Redis; "valkey 8.0.1" for another server, whose redis_version only names the
 * compatible version of Redis. */
static void describe_version(struct lb_facts *facts, const char *info) {
    const char *name = info_line(info, "\nserver_name:");
    char line[40];
    if (name) {
        int len = (int)strcspn(name, "\r\n");
        snprintf(line, sizeof line, "\n%.*s_version:", len < 20 ? len : 20, name);
        const char *version = info_line(info, line);
        if (version && strncmp(name, "redis", 5) != 0) {
            lb_fact(facts, "version", "%.*s %.*s", len, name, (int)strcspn(version, "\r\n"),
                    version);
            return;
        }
    }
    const char *version = info_line(info, "redis_version:");
    if (version) lb_fact(facts, "version", "%.*s", (int)strcspn(version, "\r\n"), version);
}

/* Asks for a figure that the account may not be allowed to read. 0, with *ret_reply NULL if the server refused; -1 with
 * err: no answer. */
static int ask_figure(struct lb_session *session, struct redis_node *node,
                      const struct redis_word *words, int count,
                      const struct redis_reply **ret_reply, struct lb_err *err) {
    const struct redis_command command = {.words = words, .count = count};
    const struct redis_reply *reply = NULL;
    if (redis_pipe(session, node, &command, 1, &reply) != LB_OK) {
        err_set(err, session->err.code, "%s", session->err.text);
        session->err.code = 0;
        return -1;
    }
    *ret_reply = reply->value.type == REDIS_ERROR ? NULL : reply;
    return 0;
}

/* Asks INFO. An account without Redis' category @dangerous may not use INFO; then HELLO gives the version. */
static int describe_server(struct lb_session *session, struct redis_node *node,
                           struct lb_facts *facts, struct lb_err *err) {
    const struct redis_reply *reply = NULL;
    if (ask_figure(session, node, (const struct redis_word[]){{"INFO", 4}, {"server", 6}}, 2,
                   &reply, err) != 0)
        return -1;
    if (reply) {
        describe_version(facts, reply->value.text);
        return 0;
    }
    if (ask_figure(session, node, (const struct redis_word[]){{"HELLO", 5}}, 1, &reply, err) != 0)
        return -1;
    const char *name = reply ? redis_after(reply, "server") : "",
               *version = reply ? redis_after(reply, "version") : "";
    bool other = *name && strcmp(name, "redis") != 0;
    if (*version) lb_fact(facts, "version", "%s%s%s", other ? name : "", other ? " " : "", version);
    return 0;
}

enum lb_outcome redis_replicas(struct lb_session *session, struct redis_node *node,
                               int *ret_count) {
    const struct redis_word words[] = {{"INFO", 4}, {"replication", 11}};
    const struct redis_command command = {.words = words, .count = 2};
    const struct redis_reply *reply = NULL;
    enum lb_outcome outcome = redis_pipe(session, node, &command, 1, &reply);
    if (outcome != LB_OK) return outcome;
    const char *count = reply->value.type == REDIS_STRING
                            ? info_line(reply->value.text, "connected_slaves:")
                            : NULL;
    if (!count) return redis_refuse(session, reply);
    *ret_count = atoi(count);
    return LB_OK;
}

int redis_replicas_told(struct lb_session *session, struct redis_node *node, int *ret_count,
                        struct lb_err *err) {
    int count = -1;
    enum lb_outcome outcome = redis_replicas(session, node, &count);
    if (outcome != LB_OK && outcome != LB_REFUSED)
        return err_set(err, LB_EXIT_MACHINE, "%s", session->err.text);
    session->err.code = 0; /* a refusal is no failure */
    *ret_count = count;
    return 0;
}

static int describe_replicas(struct lb_session *session, struct lb_err *err) {
    struct redis_state *state = redis_state_of(session);
    int connected = -1, wanted = redis_server_of(session)->url.host_count - 1;
    if (redis_replicas_told(session, &state->node[0], &connected, err) != 0) return -1;
    if (connected >= 0 && connected < wanted)
        return err_set(err, LB_EXIT_MACHINE,
                       "redis: %d of %d replicas are connected to their primary", connected,
                       wanted);
    return 0;
}

/* Each node must see the whole cluster. A node that does not yet do so refuses commands. */
static int describe_cluster(struct lb_session *session, struct lb_err *err) {
    struct redis_state *state = redis_state_of(session);
    if (redis_cluster_learn(session, &state->node[0], err) != 0) return -1;
    for (int i = 0; i < state->node_count; i++) {
        const struct redis_reply *reply = NULL;
        const struct redis_word words[] = {{"CLUSTER", 7}, {"INFO", 4}};
        if (ask_figure(session, &state->node[i], words, 2, &reply, err) != 0) return -1;
        if (!reply)
            continue; /* the account may not ask; the locks only need the map of the slots */
        if (!strstr(reply->value.text, "cluster_state:ok"))
            return err_set(err, LB_EXIT_MACHINE, "redis at %s:%d: the cluster is not whole",
                           state->node[i].host, state->node[i].port);
    }
    return 0;
}

static int describe_role(struct lb_session *session, struct lb_facts *facts, struct lb_err *err) {
    const struct redis_reply *reply = NULL;
    const struct redis_word words[] = {{"INFO", 4}, {"replication", 11}};
    if (ask_figure(session, &redis_state_of(session)->node[0], words, 2, &reply, err) != 0)
        return -1;
    if (reply && info_line(reply->value.text, "\nrole:slave"))
        lb_facts_unfit(session, facts, LB_SCENARIO_NONE,
                       "a replica: its primary does not get what is written there");
    return 0;
}

static int describe_topology(struct lb_session *session, struct lb_facts *facts,
                             struct lb_err *err) {
    switch (redis_state_of(session)->mode) {
    case REDIS_REPLICAS:
        return describe_replicas(session, err);
    case REDIS_SENTINEL:
        return redis_sentinel_describe(session, err);
    case REDIS_CLUSTER:
        return describe_cluster(session, err);
    case REDIS_SINGLE:
        return describe_role(session, facts, err);
    case REDIS_INDEPENDENTS:
        break;
    }
    return 0;
}

/* Adds the failures that a lock's keys survive, by the settings of the server (of several servers: of the
 * first one). */
static void describe_durability(struct lb_facts *facts) {
    const char *appendonly = lb_facts_value(facts, "appendonly"),
               *fsync = lb_facts_value(facts, "appendfsync"), *save = lb_facts_value(facts, "save");
    if (!appendonly || (strcmp(appendonly, "yes") == 0 && !fsync)) {
        lb_facts_durability(facts, NULL, "not told: this server refuses CONFIG GET appendonly");
    } else if (strcmp(appendonly, "yes") == 0 && strcmp(fsync, "always") == 0) {
        lb_facts_durability(facts, "disk",
                            "append-only file, on disk before each answer (appendfsync always)");
    } else if (strcmp(appendonly, "yes") == 0) {
        lb_facts_durability(facts, "log",
                            "append-only file, not on disk before each answer (appendfsync %s)",
                            fsync);
    } else if (save && strcmp(save, "(empty)") != 0) {
        lb_facts_durability(facts, "memory",
                            "in memory, snapshots on disk now and then (appendonly no, save %.60s)",
                            save);
    } else {
        lb_facts_durability(facts, "memory",
                            "in memory, nothing is written to disk (appendonly no%s)",
                            save ? ", save \"\"" : "; it does not tell whether it saves snapshots");
    }
}

int redis_describe(struct lb_session *session, struct lb_facts *facts, struct lb_err *err) {
    static const char *const settings[] = {"save", "appendonly", "appendfsync", "maxmemory-policy",
                                           "maxclients"};
    struct redis_node *node = &redis_state_of(session)->node[0];
    const struct redis_reply *reply = NULL;
    int64_t until_ns = lb_now() + WHOLE_NS;
    for (;;) {
        struct lb_err why = {0};
        session->err.code = 0;
        if (describe_topology(session, facts, &why) == 0) break;
        if (why.code == LB_EXIT_USAGE || lb_now() >= until_ns || lb_stopping())
            return err_set(err, why.code, "%s", why.text);
        lb_sleep_until(lb_now() + WHOLE_NS / 100);
    }
    if (describe_server(session, node, facts, err) != 0) return -1;
    sock_facts(&node->conn->sock, &((const struct redis_options *)session->server->options)->tls,
               facts);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        const struct redis_word words[3] = {{"CONFIG", 6}, {"GET", 3}, {settings[i], 0}};
        if (ask_figure(session, node, words, 3, &reply, err) != 0) return -1;
        if (reply && reply->value.type == REDIS_ARRAY && reply->count == 2)
            lb_fact(facts, settings[i], "%s",
                    reply->element[1].len ? reply->element[1].text : "(empty)");
    }
    describe_durability(facts);
    return 0;
}
