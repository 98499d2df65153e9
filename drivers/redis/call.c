/* call: the round trips to the nodes of a session: a command to the node that serves a key (MOVED and ASK are
 * followed), several commands in one round trip, and a command to all nodes. See redis.h. A command is sent
 * again only if a server has said that it did not carry out the command. Nothing here depends on a lock's
 * algorithm. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "drivers/redis/redis_impl.h"
#include "drivers/wait.h"

/* SHA-1 (FIPS 180-4). The digest is computed here, because SCRIPT LOAD would take a round trip to every node. */

static uint32_t rotl(uint32_t x, int k) {
    return (x << k) | (x >> (32 - k));
}

static void block(uint32_t h[5], const unsigned char *bytes) {
    static const uint32_t k[4] = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};
    uint32_t w[80];
    for (int i = 0; i < 16; i++) {
        w[i] = (uint32_t)bytes[4 * i] << 24 | (uint32_t)bytes[4 * i + 1] << 16 |
               (uint32_t)bytes[4 * i + 2] << 8 | bytes[4 * i + 3];
    }
    for (int i = 16; i < 80; i++) w[i] = rotl(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    uint32_t a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];
    for (int i = 0; i < 80; i++) {
        uint32_t f = i < 20   ? (b & c) | (~b & d)
                     : i < 40 ? b ^ c ^ d
                     : i < 60 ? (b & c) | (b & d) | (c & d)
                              : b ^ c ^ d;
        uint32_t next = rotl(a, 5) + f + e + k[i / 20] + w[i];
        e = d;
        d = c;
        c = rotl(b, 30);
        b = a;
        a = next;
    }
    h[0] += a;
    h[1] += b;
    h[2] += c;
    h[3] += d;
    h[4] += e;
}

void sha1_hex(const void *data, size_t len, char out[41]) {
    uint32_t h[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    const unsigned char *bytes = data;
    size_t left = len;
    for (; left >= 64; left -= 64, bytes += 64) block(h, bytes);
    unsigned char last[128] = {0};
    memcpy(last, bytes, left);
    last[left] = 0x80;
    size_t end = left < 56 ? 64 : 128;
    for (int i = 0; i < 8; i++)
        last[end - 1 - (size_t)i] = (unsigned char)((uint64_t)len * 8 >> (8 * i));
    block(h, last);
    if (end == 128) block(h, last + 64);
    for (int i = 0; i < 5; i++) snprintf(out + 8 * i, 9, "%08x", h[i]);
}

#define IDLE_NS (100 * LB_MS_NS) /* after such a rest a connection is looked at before it is used */
#define HOPS_MAX 5               /* the most MOVED and ASK in a row */
#define AGAIN_NS (200 * LB_MS_NS) /* the pause between two tries to reach a node that is down */
#define SCRIPTS_MAX 64            /* the number of scripts whose digests a thread remembers */
#define OWED_MAX 256              /* a connection with so many unread late answers is given up */

/* How a round trip is to be sent. */
enum how { PLAIN = 0, WHOLE_SCRIPT = 1, ASKING = 2 };

/* The digests of the scripts that this thread has used. */
static _Thread_local struct {
    const struct redis_script *script;
    char sha1[41];
} scripts[SCRIPTS_MAX];

/* The script's place in the thread's table. The digest is computed on the script's first use. */
static int place_of(const struct redis_script *script) {
    int i = 0;
    while (i < SCRIPTS_MAX - 1 && scripts[i].script && scripts[i].script != script) i++;
    if (scripts[i].script != script) {
        scripts[i].script = script;
        sha1_hex(script->text, strlen(script->text), scripts[i].sha1);
    }
    return i;
}

static bool put_command(const struct redis_command *command, bool whole_script) {
    if (!command->script) return conn_put(command->words, command->count, NULL, 0);
    char keys[REDIS_DECIMAL_BYTES];
    struct redis_word head[] = {
        {"EVALSHA", 7}, {NULL, 0}, {keys, redis_decimal((uint64_t)command->keys, keys)}};
    if (whole_script) {
        head[0] = (struct redis_word){"EVAL", 4};
        head[1] = (struct redis_word){command->script->text, 0};
    } else {
        head[1] = (struct redis_word){scripts[place_of(command->script)].sha1, 40};
    }
    return conn_put(head, 3, command->words, command->count);
}

static bool put_commands(const struct redis_command *commands, int count, int how) {
    conn_begin();
    if ((how & ASKING) && !conn_put((const struct redis_word[]){{"ASKING", 6}}, 1, NULL, 0))
        return false;
    for (int i = 0; i < count; i++) {
        if (!put_command(&commands[i], (how & WHOLE_SCRIPT) && i == 0)) return false;
    }
    return true;
}

/* Whether the node's connection stands. Redis closes what is idle (its `timeout`), so one that has rested is looked at.
 * Nothing of a lock lives by a connection: the next command can go over another one (*ret_idle). deadline_ns: of that
 * command; all have the same time. */
static bool stands(const struct redis_node *node, int64_t deadline_ns, bool *ret_idle) {
    struct redis_conn *conn = node->conn;
    *ret_idle = false;
    if (!conn || conn->dead) return false;
    int64_t rest_ns = deadline_ns - conn->deadline_ns;
    conn->deadline_ns = deadline_ns;
    *ret_idle = rest_ns > IDLE_NS && conn_is_closed(conn);
    conn->dead = *ret_idle;
    return !conn->dead;
}

/* Connects the node if necessary and reserves it for this fiber until redis_leave. */
static enum lb_outcome enter_node(struct lb_session *session, struct redis_node *node,
                                  int64_t deadline_ns) {
    if (!gate_enter(&node->gate, deadline_ns))
        return lb_fail(session, LB_BROKEN,
                       "redis: another request had the connection until the deadline");
    bool idle;
    if (stands(node, deadline_ns, &idle)) return LB_OK;
    struct lb_err err = {0};
    if ((!node->conn || idle) && redis_node_reach(session, node, deadline_ns, &err) == 0)
        return LB_OK;
    gate_leave(&node->gate);
    return lb_fail(session, LB_BROKEN, "%s", err.code ? err.text : "redis: not connected");
}

static enum lb_outcome round_trip(struct lb_session *session, struct redis_node *node,
                                  const struct redis_command *commands, int count, int how,
                                  const struct redis_reply **ret_replies) {
    int64_t deadline_ns = redis_answer_deadline(session);
    int asking = (how & ASKING) ? 1 : 0;
    enum lb_outcome outcome = enter_node(session, node, deadline_ns);
    if (outcome != LB_OK) return outcome;
    struct redis_conn *conn = node->conn;
    if (!put_commands(commands, count, how)) {
        outcome = lb_fail(session, LB_REFUSED, "redis: command too long");
    } else {
        session->commands += (uint64_t)(count + asking);
        outcome = conn_send(conn, deadline_ns);
        if (outcome == LB_OK) outcome = conn_receive(conn, count + asking, deadline_ns);
        if (outcome == LB_TIMEOUT)
            outcome = conn_die(conn, LB_UNKNOWN, "no answer", conn_why_late());
    }
    gate_leave(&node->gate);
    if (outcome == LB_OK) *ret_replies = conn->reply + asking;
    return outcome;
}

static bool begins(const char *text, const char *prefix) {
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Whether the server refused a write because it is a replica. If a command of a script gets this error, a server up to
 * version 6.2 reports an error of the script with READONLY in its text. The script has written nothing then either,
 * because it ended at its first write. */
static bool is_readonly(const struct redis_value *value) {
    if (value->type != REDIS_ERROR) return false;
    return begins(value->text, "READONLY") ||
           (begins(value->text, "ERR Error running script") && strstr(value->text, "-READONLY"));
}

/* If a node has answered a command with MOVED or ASK: finds the node to which the command must be sent again, and how
 * (*node, *how), and returns true. */
static bool redirected(struct lb_session *session, struct redis_node **node, const char *error,
                       int *how) {
    struct redis_state *state = redis_state_of(session);
    bool moved = begins(error, "MOVED ");
    unsigned slot = 0;
    if (!moved && !begins(error, "ASK ")) return false;
    struct redis_node *next = redis_cluster_pointed(state, *node, error, &slot);
    if (!next) return false;
    *node = next;
    *how = moved ? *how & ~ASKING : *how | ASKING;
    if (!moved) return true;
    state->cluster->node[slot] = (uint8_t)(next - state->node);
    next->primary = true;
    /* Where one slot has moved, others probably have moved too. If the map can't be read now, the
     * next MOVED starts another attempt. */
    struct lb_err ignored = {0};
    redis_cluster_learn(session, next, &ignored);
    return true;
}

enum lb_outcome redis_pipe(struct lb_session *session, struct redis_node *node,
                           const struct redis_command *commands, int count,
                           const struct redis_reply **ret_replies) {
    struct redis_state *state = redis_state_of(session);
    bool follow = !node && state->mode == REDIS_CLUSTER;
    int at = commands->script ? 0 : 1;
    if (follow && at < commands->count) {
        const struct redis_word *key = &commands->words[at];
        enum lb_outcome found =
            redis_node_of(session, key->text, key->len ? key->len : strlen(key->text), &node);
        if (found != LB_OK) return found;
    }
    if (!node) node = &state->node[0];
    int how = PLAIN;
    for (int hops = 0;; hops++) {
        const struct redis_reply *replies = NULL;
        enum lb_outcome outcome = round_trip(session, node, commands, count, how, &replies);
        if (outcome != LB_OK) return outcome;
        *ret_replies = replies;
        if (replies->value.type != REDIS_ERROR || hops == HOPS_MAX) return LB_OK;
        const char *text = replies->value.text;
        if (commands->script && !(how & WHOLE_SCRIPT) && begins(text, "NOSCRIPT")) {
            how |= WHOLE_SCRIPT;
        } else if (state->mode != REDIS_CLUSTER && redis_may_have_replicas(session) &&
                   is_readonly(&replies->value)) {
            /* The node is no primary any more. After LB_BROKEN the next session asks for the new primary. */
            return conn_die(node->conn, LB_BROKEN, "no primary any more", text);
        } else if (!follow || !redirected(session, &node, text, &how)) {
            return LB_OK;
        }
    }
}

enum lb_outcome redis_run(struct lb_session *session, const struct redis_script *script, int keys,
                          const struct redis_word *words, int count,
                          const struct redis_reply **ret_reply) {
    const struct redis_command command = {script, words, count, keys};
    const struct redis_reply *reply = NULL;
    enum lb_outcome outcome = redis_pipe(session, NULL, &command, 1, &reply);
    if (outcome != LB_OK) return outcome;
    if (reply->value.type == REDIS_ERROR) return redis_refuse(session, reply);
    *ret_reply = reply;
    return LB_OK;
}

enum lb_outcome redis_number(struct lb_session *session, const struct lb_request *request,
                             const char *command, const char *argument, long long *ret_answer) {
    const struct redis_word words[] = {
        {command, 0}, {request->key, request->key_len}, {argument, 0}};
    const struct redis_reply *reply = NULL;
    enum lb_outcome outcome = redis_run(session, NULL, 0, words, argument ? 3 : 2, &reply);
    if (outcome != LB_OK) return outcome;
    if (reply->value.type != REDIS_INTEGER) return redis_refuse(session, reply);
    *ret_answer = reply->value.integer;
    return LB_OK;
}

int redis_tell(struct lb_session *session, const struct redis_script *script, int keys,
               const struct redis_word *words, int count, struct lb_err *err) {
    const struct redis_reply *reply = NULL;
    if (redis_run(session, script, keys, words, count, &reply) == LB_OK) return 0;
    return err_set(err, session->err.code, "%s", session->err.text);
}

int redis_ask(struct lb_session *session, struct redis_node *node, const struct redis_word *words,
              int count, const struct redis_reply **ret_reply, struct lb_err *err) {
    const struct redis_command command = {.words = words, .count = count};
    const struct redis_reply *reply = NULL;
    enum lb_outcome outcome = redis_pipe(session, node, &command, 1, &reply);
    if (outcome == LB_OK && reply->value.type == REDIS_ERROR)
        outcome = redis_refuse(session, reply);
    if (outcome != LB_OK) {
        err_set(err, session->err.code, "%s", session->err.text);
        session->err.code = 0;
        return -1;
    }
    *ret_reply = reply;
    return 0;
}

int redis_cluster_learn(struct lb_session *session, struct redis_node *from, struct lb_err *err) {
    const struct redis_word words[] = {{"CLUSTER", 7}, {"NODES", 5}};
    const struct redis_reply *reply = NULL;
    if (redis_ask(session, from, words, 2, &reply, err) != 0) return -1;
    if (reply->value.type != REDIS_STRING)
        return err_set(err, LB_EXIT_MACHINE,
                       "redis: CLUSTER NODES: an answer of an unexpected type");
    if (reply->value.len + 1 >= sizeof from->conn->text) /* cut, perhaps within a number */
        return err_set(err, LB_EXIT_MACHINE, "redis: CLUSTER NODES: longer than %zu bytes",
                       sizeof from->conn->text);
    return redis_cluster_parse(redis_state_of(session), reply->value.text, from->host, err);
}

/* Sends one command to a node that this fiber has entered. The caller must receive the answer, or add 1 to owed. */
static enum lb_outcome send_one(struct redis_conn *conn, const struct redis_command *command,
                                bool whole_script, int64_t deadline_ns) {
    conn_begin();
    if (!put_command(command, whole_script))
        return lb_fail(conn->session, LB_REFUSED, "redis: command too long");
    if (conn->owed >= OWED_MAX)
        return conn_die(conn, LB_BROKEN, "sending", "too many answers are missing");
    conn->session->commands++;
    return conn_send(conn, deadline_ns);
}

enum lb_outcome redis_post(struct lb_session *session, struct redis_node *node,
                           const struct redis_command *command) {
    int64_t deadline_ns = redis_answer_deadline(session);
    enum lb_outcome outcome = enter_node(session, node, deadline_ns);
    if (outcome != LB_OK) return outcome;
    outcome = send_one(node->conn, command, true, deadline_ns);
    if (outcome == LB_OK) node->conn->owed++;
    gate_leave(&node->gate);
    return outcome;
}

/* --- to all nodes, at once or in turn --- */

/* Opens a lost connection again, unless the last try was just before. */
static bool revive(struct lb_session *session, struct redis_node *node, int64_t deadline_ns) {
    struct lb_err err = {0};
    if (lb_now() < node->no_sooner_ns) return false;
    if (redis_node_reach(session, node, deadline_ns, &err) == 0) return true;
    node->no_sooner_ns = lb_now() + AGAIN_NS;
    lb_fail(session, LB_BROKEN, "%s", err.text);
    return false;
}

/* Waits for a node's answer to the command that was sent. */
static void collect_answer(struct redis_node *node, int64_t deadline_ns,
                           struct redis_answer *answer) {
    struct redis_conn *conn = node->conn;
    answer->outcome = conn_receive(conn, 1, deadline_ns);
    if (answer->outcome == LB_OK && is_readonly(&conn->reply[0].value)) {
        answer->outcome =
            conn_die(conn, LB_BROKEN, "no primary any more", conn->reply[0].value.text);
        return;
    }
    if (answer->outcome == LB_OK) answer->reply = &conn->reply[0];
    if (answer->outcome != LB_TIMEOUT) return;
    conn->owed++;
    answer->late = true;
    answer->outcome = lb_fail(conn->session, LB_UNKNOWN, "redis at %s:%d: no answer in time",
                              node->host, node->port);
}

/* The script's bit in conn->known; 0 = none. A late answer is dropped, even if it was NOSCRIPT, which means that the
 * script did not run. So each request carries the whole script until an answer on this connection has shown that the
 * node knows the script. */
static uint64_t script_bit(const struct redis_command *command) {
    int place = command->script ? place_of(command->script) : 0;
    return command->script && place < SCRIPTS_MAX - 1 ? UINT64_C(1) << place : 0;
}

static enum lb_outcome send_to(struct redis_node *node, const struct redis_command *command,
                               int64_t deadline_ns) {
    bool known = node->conn->known & script_bit(command);
    return send_one(node->conn, command, !known, deadline_ns);
}

static bool is_noscript(const struct redis_answer *answer) {
    return answer->outcome == LB_OK && answer->reply->value.type == REDIS_ERROR &&
           begins(answer->reply->value.text, "NOSCRIPT");
}

/* Sends the script's text to the nodes that do not know it. This second round has a timeout of its
 * own, since a slow node may have used up the first one. */
static void teach(struct lb_session *session, const struct redis_command *command,
                  int64_t timeout_ns, struct redis_answer *answers, int count) {
    int64_t deadline_ns = lb_now() + timeout_ns;
    bool told[REDIS_NODES_MAX] = {false};
    for (int i = 0; i < count; i++) {
        struct redis_conn *conn = redis_node_at(session, i)->conn;
        if (answers[i].outcome == LB_OK) conn->known |= script_bit(command);
        if (!is_noscript(&answers[i])) continue;
        conn->known = 0; /* the server has forgotten all scripts */
        answers[i] = (struct redis_answer){.outcome = send_one(conn, command, true, deadline_ns)};
        told[i] = answers[i].outcome == LB_OK;
    }
    for (int i = 0; i < count; i++) {
        if (told[i]) collect_answer(redis_node_at(session, i), deadline_ns, &answers[i]);
    }
}

int redis_all(struct lb_session *session, const struct redis_command *command, int64_t timeout_ns,
              struct redis_answer answers[REDIS_NODES_MAX]) {
    int64_t deadline_ns = lb_now() + timeout_ns;
    int count = redis_node_count(session);
    bool entered[REDIS_NODES_MAX], idle;
    for (int i = 0; i < count; i++) {
        struct redis_node *node = redis_node_at(session, i);
        answers[i] = (struct redis_answer){.outcome = LB_BROKEN};
        entered[i] = gate_enter(&node->gate, deadline_ns);
        if (entered[i] && stands(node, deadline_ns, &idle))
            answers[i].outcome = send_to(node, command, deadline_ns);
    }
    /* Lost connections are made anew only after the command was sent on all others, since
     * connecting may use up the timeout. */
    for (int i = 0; i < count; i++) {
        struct redis_node *node = redis_node_at(session, i);
        if (!entered[i] || (node->conn && !node->conn->dead)) continue;
        if (revive(session, node, deadline_ns))
            answers[i].outcome = send_to(node, command, deadline_ns);
    }
    for (int i = 0; i < count; i++) {
        struct redis_node *node = redis_node_at(session, i);
        if (entered[i] && answers[i].outcome == LB_OK)
            collect_answer(node, deadline_ns, &answers[i]);
    }
    if (command->script) teach(session, command, timeout_ns, answers, count);
    /* The nodes are released only when all have answered: an earlier round trip of another fiber would
     * have overwritten the answers. */
    for (int i = 0; i < count; i++) {
        if (entered[i]) gate_leave(&redis_node_at(session, i)->gate);
    }
    return count;
}

#define HINT_BYTES 360

/* Advice for an account that lacks a right: all that locks need, since a server names one refused thing at a time.
 * The error texts are those of Redis 6 to 8 and Valkey. */
static void advise_account(const struct lb_session *session, const char *text,
                           char hint[HINT_BYTES]) {
    const char *user = redis_server_of(session)->url.user;
    const char *command = strstr(text, "run the '");
    if (command) command += strlen("run the '");
    if (!*user) user = "default";
    snprintf(
        hint, HINT_BYTES,
        ": all that locks need: ACL SETUSER %.60s %s%.*s%s'&*' ~* (or, with --set "
        "load.key_prefix=PREFIX, ~PREFIX*, and for Redisson's '~{PREFIX*' '~redisson*{PREFIX*')",
        user, command ? "+@read +@write +@scripting +@pubsub +@connection -@dangerous +" : "",
        command ? (int)strcspn(command, "'") : 0, command ? command : "", command ? " " : "");
}

static void advise(const struct lb_session *session, const char *text, char hint[HINT_BYTES]) {
    hint[0] = '\0';
    if (begins(text, "CROSSSLOT"))
        snprintf(hint, HINT_BYTES,
                 ": in a cluster all keys of a script need the same {tag}; pass ids as arguments");
    else if (begins(text, "OOM"))
        snprintf(hint, HINT_BYTES,
                 ": its memory is full: CONFIG SET maxmemory BYTES raises the limit");
    else if (begins(text, "NOPERM") || strstr(text, "ACL failure in script") ||
             strstr(text, "The user executing the script can't"))
        advise_account(session, text, hint);
}

enum lb_outcome redis_refuse(struct lb_session *session, const struct redis_reply *reply) {
    static const char *const final[] = {"NOAUTH",   "WRONGPASS", "WRONGTYPE",  "NOPERM", "ERR",
                                        "READONLY", "CROSSSLOT", "NOREPLICAS", "OOM",    "MISCONF"};
    const char *text =
        reply->value.type == REDIS_ERROR ? reply->value.text : "an answer of an unexpected type";
    char hint[HINT_BYTES];
    enum lb_outcome outcome = LB_BROKEN;
    advise(session, text, hint);
    for (size_t i = 0; i < sizeof final / sizeof *final; i++) {
        if (begins(text, final[i])) outcome = LB_REFUSED;
    }
    return lb_fail(session, outcome, "redis: %s%s", text, hint);
}
