/* redis: the functions that all Redis locks share, without the algorithms: commands to the node that
 * serves a key, several commands in one round trip, scripts, subscriptions, names, tokens, and the count
 * of keys that are left on the servers.
 *
 * A session has a connection to each node that it needed so far. Where several fibers share a
 * session (LB_CAP_SHARE), each connection carries one round trip at a time. Replies lie in the
 * connection, so that a round trip allocates no memory: they are valid until the calling fiber waits
 * again. A command is sent again after MOVED and ASK, and a script after NOSCRIPT; in no other case. */
#ifndef DRIVERS_REDIS_REDIS_H
#define DRIVERS_REDIS_REDIS_H

#include "drivers/backends.h"

#define REDIS_ELEMENTS_MAX 40 /* the most elements that are kept of an array */
#define REDIS_PIPE_MAX 4      /* the most commands of one round trip */
#define REDIS_NODES_MAX 16    /* the most nodes of one session */

enum redis_type { REDIS_NIL, REDIS_STATUS, REDIS_ERROR, REDIS_INTEGER, REDIS_STRING, REDIS_ARRAY };

struct redis_value {
    enum redis_type type;
    long long integer; /* ARRAY: how many elements the server announced */
    const char *text;  /* STATUS, ERROR, STRING: NUL-terminated; never NULL */
    size_t len;
};

#define REDIS_DECIMAL_BYTES 24 /* room for a number as text */

struct redis_reply {
    struct redis_value value;
    int count; /* ARRAY: elements kept, at most REDIS_ELEMENTS_MAX; nested arrays are flattened */
    int total; /* ARRAY: elements that came, flattened, kept or not */
    struct redis_value element[REDIS_ELEMENTS_MAX];
};

/* A word of a command. len 0: the length is that of the string. */
struct redis_word {
    const char *text;
    size_t len;
};

/* A Lua script. Sent by EVALSHA, and by EVAL where the server does not know the script yet. */
struct redis_script {
    const char *text;
};

/* Defines script_NAME from drivers/redis/lua/NAME.lua, which the assembler includes unchanged. Use it at
 * file scope, in the one file that owns the script. */
#define REDIS_SCRIPT(name) REDIS_SCRIPT_TEXT(name, REDIS_LUA(name))
/* The same from two files, one after the other: the common beginning of several scripts, and the rest. */
#define REDIS_SCRIPT_FROM(begin, name) REDIS_SCRIPT_TEXT(name, REDIS_LUA(begin) REDIS_LUA(name))
#define REDIS_LUA(name) ".incbin \"drivers/redis/lua/" #name ".lua\"\n"
#define REDIS_SCRIPT_TEXT(name, text)                                                              \
    __asm__(".pushsection .rodata\nlua_" #name ":\n" text ".byte 0\n.popsection\n");               \
    extern const char lua_##name[] __attribute__((visibility("hidden")));                          \
    const struct redis_script script_##name = {lua_##name}

struct redis_command {
    const struct redis_script *script; /* NULL: the words are the command itself */
    const struct redis_word *words;    /* of a script: its keys, then its arguments */
    int count;
    int keys; /* of a script: how many of the words are keys */
};

/* --- nodes --- */

/* One server and this session's connection to it, made on first use; lives as long as the
 * session. */
struct redis_node;

/* Finds the node that serves a key (cluster: by the key's slot; sentinels, and a URL with replicas: the
 * server that calls itself primary; else the URL's server). LB_OK; LB_BROKEN: no node serves the key
 * now; or LB_REFUSED: a cluster would spread the lock's keys over several slots. */
enum lb_outcome redis_node_of(struct lb_session *session, const char *key, size_t len,
                              struct redis_node **ret_node);

/* The number of nodes, and the node at an index. redis+independents://: the servers, in the URL's
 * order; elsewhere: the primaries. */
int redis_node_count(const struct lb_session *session);
struct redis_node *redis_node_at(struct lb_session *session, int index);
/* The number of these nodes that are connected. */
int redis_node_up_count(const struct lb_session *session);

bool redis_is_cluster(const struct lb_session *session);
/* Whether each node has a key of its own under the same name. */
bool redis_are_independent(const struct lb_session *session);
/* Whether the URL's scheme states that a primary has replicas. A single server is not asked for replicas, even if it
 * has some; Redisson does the same. */
bool redis_may_have_replicas(const struct lb_session *session);

/* Asks the node by INFO replication for the number of its replicas that are connected now. */
enum lb_outcome redis_replicas(struct lb_session *session, struct redis_node *node, int *ret_count);

/* Sets the function that ends a lock's helper fibers and subscriptions: disconnect calls it first, once. A
 * session has one such function. To be called in lb_algorithm.prepare or later. */
void redis_at_end(struct lb_session *session, void (*end)(struct lb_session *session));

/* --- round trips --- */

/* Runs a script, or with script NULL a command, and waits for its reply: on the node that serves the first key, which is
 * the second word of a command (a command of one word goes to the first node). LB_OK with *ret_reply, which is not of
 * type REDIS_ERROR; LB_BROKEN: nothing was sent; LB_UNKNOWN: sent, the answer is lost; or the outcome of redis_refuse. At
 * most the backend's command_timeout. After LB_BROKEN and LB_UNKNOWN that connection is dead until the core connects the
 * session again. */
enum lb_outcome redis_run(struct lb_session *session, const struct redis_script *script, int keys,
                          const struct redis_word *words, int count,
                          const struct redis_reply **ret_reply);
/* Runs a command on the request's key with at most one argument (or NULL), whose answer is a number. */
enum lb_outcome redis_number(struct lb_session *session, const struct lb_request *request,
                             const char *command, const char *argument, long long *ret_answer);
/* The same as redis_run, to set up or remove a key: 0, or -1 with err. */
int redis_tell(struct lb_session *session, const struct redis_script *script, int keys,
               const struct redis_word *words, int count, struct lb_err *err);

/* The same with 1 .. REDIS_PIPE_MAX commands sent at once on one connection; ret_replies points to
 * as many replies, in order, which may be errors. node NULL: the one that serves the first command's key. Only the first
 * may be a script that the server might not know, or be sent elsewhere by MOVED: then all of them
 * are sent a second time. */
enum lb_outcome redis_pipe(struct lb_session *session, struct redis_node *node,
                           const struct redis_command *commands, int count,
                           const struct redis_reply **ret_replies);

/* Sends a command and does not wait; its answer is dropped when it comes. The node carries out later commands
 * of this session after this one. */
enum lb_outcome redis_post(struct lb_session *session, struct redis_node *node,
                           const struct redis_command *command);

struct redis_answer {
    enum lb_outcome outcome; /* LB_OK: with reply. LB_UNKNOWN: sent; LB_BROKEN: not sent */
    bool late; /* with LB_UNKNOWN: the connection works, and the answer may still come */
    const struct redis_reply *reply;
};

/* Sends one command to all nodes (redis_node_at) at once and waits for all their answers, for at
 * most timeout_ns (twice that if the script's text must be sent to some nodes first). A node that is late
 * keeps its connection: its answer is dropped when it comes, and the node carries out later commands after
 * this one. Lost connections are opened again. Returns the number of nodes; the answers are in the order
 * of the nodes. */
int redis_all(struct lb_session *session, const struct redis_command *command, int64_t timeout_ns,
              struct redis_answer answers[REDIS_NODES_MAX]);

/* Fails the operation with the server's error reply: LB_REFUSED (auth, wrong type, unknown
 * command), else LB_BROKEN. */
enum lb_outcome redis_refuse(struct lb_session *session, const struct redis_reply *reply);

/* --- names, tokens, leftovers --- */

/* Writes before{name}after, or the same without braces if the name already has one. A cluster puts all keys that
 * are made from one name into one slot. Returns the length, cut to size. */
size_t redis_tagged(char *out, size_t size, const char *before, const char *name, size_t name_len,
                    const char *after);

/* Writes a lease in whole milliseconds as text: rounded up, and at least 1, so that no grant outlasts its
 * key. */
void redis_lease_ms(int64_t lease_ns, char out[REDIS_DECIMAL_BYTES]);
/* Writes a number as text. Returns its length. */
size_t redis_decimal(uint64_t number, char out[REDIS_DECIMAL_BYTES]);

/* Deletes the key. */
lb_arm_fn redis_delete;
/* Deletes the keys of the range and all that the session's lock makes on the server for each of
 * them. */
lb_arm_range_fn redis_unlink_range;

/* Adds to *residue the keys on all primaries whose names begin with before + prefix; no character of these
 * has the meaning of a pattern. 0, or -1 with err. */
int redis_count_keys(struct lb_session *session, const char *before, const char *prefix,
                     struct lb_residue *residue, struct lb_err *err);
/* The same for channels with subscribers, plain and sharded. */
int redis_count_channels(struct lb_session *session, const char *before, const char *prefix,
                         struct lb_residue *residue, struct lb_err *err);

/* --- the tables of controls --- */

/* Members of struct lb_lock: a mutex, and how its waiters wait. */
#define UNSAFE_MUTEX(how) .backend = &backend_redis, .primitive = LB_MUTEX, .waits = how
#define UNSAFE_CAPS (LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_LEASE | LB_CAP_SHARE | LB_CAP_CONTROL)

/* Members of its .about: the numbers of requests of an acquire and a release; the lease frees the lock of a dead
 * holder. */
#define UNSAFE_ABOUT(acquires, releases)                                                           \
    .order = "none", .acquire_requests = acquires, .release_requests = releases,                   \
    .guarantee = LB_NO_GUARANTEE
#define UNSAFE_LEASE .crash = LB_CRASH_LEASE, .crash_slack_ns = 100 * LB_MS_NS

#endif
