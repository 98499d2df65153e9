/* redis_impl: what the files of the redis backend share; the algorithms include redis.h only. */
#ifndef DRIVERS_REDIS_REDIS_IMPL_H
#define DRIVERS_REDIS_REDIS_IMPL_H

#include "drivers/redis/redis.h"

#include <hiredis.h>

#include "drivers/gate.h"
#include "drivers/sock.h"
#include "drivers/url.h"

#define REDIS_SLOTS 16384 /* of a cluster */

/* By the URL's scheme: redis, and redis+replicas, redis+sentinel, ... REDIS_GROUPS: redis+sentinel with several names,
 * each of a primary and its replicas. */
enum redis_mode {
    REDIS_SINGLE,
    REDIS_REPLICAS,
    REDIS_SENTINEL,
    REDIS_CLUSTER,
    REDIS_INDEPENDENTS,
    REDIS_GROUPS
};

#define REDIS_GROUPS_MAX 7

struct redis_server {
    struct url url;
    enum redis_mode mode;
    /* the names of the groups that the sentinels watch: one for REDIS_SENTINEL, several for REDIS_GROUPS */
    char group[REDIS_GROUPS_MAX][64];
    int group_count;
    char database[12];    /* to SELECT; "" = 0 */
    struct sock_tls *tls; /* NULL = not encrypted */
    struct {
        char user[64], password[128]; /* "" = none; never print them */
    } sentinels;                      /* the account that the sentinels ask for */
};

struct redis_options {
    int64_t command_timeout_ns;
    const char *sentinel_login; /* a file; NULL = none */
    struct lb_tls tls;
};

/* One connection. Its own file, conn.c, knows RESP; nothing here knows of topologies. */
struct redis_conn {
    struct lb_session *session;
    redisContext *context;
    struct sock sock;
    bool dead;
    bool counted;   /* the core counts its bytes (session->traffic_fd) */
    bool unread;    /* of a feed: more bytes may be there, for which epoll reports no new edge */
    bool half_read; /* context->reader has a part of an answer, or more than was asked for */
    int have;       /* replies of this round trip that are complete */
    int owed;       /* replies of earlier round trips that still come first; they are dropped */
    /* a bit for each script that the server knows, by the script's place in the thread's table */
    uint64_t known;
    struct redis_reply *filling;
    size_t text_used;
    struct redis_reply reply[REDIS_PIPE_MAX + 1]; /* one more for ASKING */
    char text[8192];                              /* the texts of the replies */
};

extern redisReplyObjectFunctions redis_reply_functions;
/* The text of the answer +OK, which is not copied into the connection. */
extern const char redis_ok[];
/* The value after a name in an answer of names and values, as far as it was kept; "" if it is not there. */
const char *redis_after(const struct redis_reply *reply, const char *name);

/* Connects, logs in and picks the database, as the server's URL says. 0, or -1 with err; to be
 * closed by conn_close either way. sentinel: it has an account of its own, and no databases. */
int conn_open(struct redis_conn *conn, struct lb_session *session, const char *host, int port,
              bool sentinel, int64_t deadline_ns, struct lb_err *err);
/* Closes the connection. It first waits a moment for replies that are still to come, so that the
 * server does what it was told. Accepts a connection in any state. */
void conn_close(struct redis_conn *conn);

/* Writing the commands of one round trip: conn_begin, then conn_put for each command (first the
 * words of head, then words), then conn_send. The caller must not wait between them, since the
 * commands lie in a buffer that the thread's connections share. conn_put: false if the command does
 * not fit. */
void conn_begin(void);
bool conn_put(const struct redis_word *head, int head_count, const struct redis_word *words,
              int count);
/* Sends them. LB_BROKEN if not a byte left, LB_UNKNOWN if some did; then the connection is dead. */
enum lb_outcome conn_send(struct redis_conn *conn, int64_t deadline_ns);
/* Waits for `wanted` replies: conn->reply. LB_OK; LB_TIMEOUT: the deadline passed, and some are
 * missing yet; LB_UNKNOWN: the connection is dead. */
enum lb_outcome conn_receive(struct redis_conn *conn, int wanted, int64_t deadline_ns);
/* Waits for one reply that no command asked for (a message); lb_wake on the waiting fiber ends the
 * wait too, with LB_TIMEOUT. */
enum lb_outcome conn_receive_next(struct redis_conn *conn, int64_t deadline_ns);
/* Sends one plain command and waits for its reply. 0 with the reply in conn->reply, which may be an
 * error reply; -1 with err: there was no reply. */
int conn_ask(struct redis_conn *conn, const struct redis_word *words, int count,
             int64_t deadline_ns, struct lb_err *err);
/* Declares it dead. Returns outcome, with session->err. */
enum lb_outcome conn_die(struct redis_conn *conn, enum lb_outcome outcome, const char *what,
                         const char *why);
/* Why no answer came by the deadline: lockbench cut off the wait, or the server was late. */
const char *conn_why_late(void);

struct redis_node {
    char host[128];
    int port;
    bool primary;            /* keys live here */
    struct gate gate;        /* one round trip at a time */
    int64_t no_sooner_ns;    /* a lost connection is not made anew before this moment */
    struct redis_conn *conn; /* NULL = not needed so far */
};

struct redis_cluster {
    uint8_t node[REDIS_SLOTS]; /* of state->node; NOBODY = not served */
};
#define REDIS_NOBODY 255

/* A session. */
struct redis_state {
    enum redis_mode mode;
    int node_count;
    struct redis_node node[REDIS_NODES_MAX];
    struct redis_cluster *cluster; /* REDIS_CLUSTER only */
    void (*end)(struct lb_session *session);
};

static inline struct redis_state *redis_state_of(struct lb_session *session) {
    return session->state;
}

static inline const struct redis_server *redis_server_of(const struct lb_session *session) {
    return session->server->state;
}

/* The node at an address, new if there is none. NULL: too many. */
struct redis_node *redis_node_add(struct redis_state *state, const char *host, int port);
/* Ends the node's connection, if there is one. */
void redis_node_drop(struct lb_session *session, struct redis_node *node);
/* Opens the node's connection, anew if there was one. 0, or -1 with err and a dead one. */
int redis_node_connect(struct lb_session *session, struct redis_node *node, int64_t deadline_ns,
                       struct lb_err *err);
/* The same, but for a group under sentinels it first asks for the group's primary, which is at
 * another address after a failover. */
int redis_node_reach(struct lb_session *session, struct redis_node *node, int64_t deadline_ns,
                     struct lb_err *err);
/* When an answer that is asked for now must be there. */
int64_t redis_answer_deadline(const struct lb_session *session);
/* Removes the keys that lockbench left on the primaries; see drivers/clean.h. */
lb_clean_fn redis_clean;

#define REDIS_CURSOR_BYTES 24

/* Moves the cursor of a SCAN on to what its answer says; "0" = it is over. 0, or -1 with err: this
 * is no answer to SCAN, or it names the same cursor again, or it does not end the SCAN although
 * deadline_ns or the cut-off has passed. */
int redis_scan_on(const struct redis_reply *reply, char cursor[REDIS_CURSOR_BYTES],
                  int64_t deadline_ns, struct lb_err *err);

/* One command to one node, by itself: 0 with *ret_reply (no error reply), or -1 with err. */
int redis_ask(struct lb_session *session, struct redis_node *node, const struct redis_word *words,
              int count, const struct redis_reply **ret_reply, struct lb_err *err);

/* Reads CLUSTER NODES, asked of this node, into the session's nodes and slots. 0, or -1 with
 * err. */
int redis_cluster_learn(struct lb_session *session, struct redis_node *from, struct lb_err *err);

/* --- describe.c --- */

lb_describe_fn redis_describe;
/* As redis_replicas, but *ret_count is -1 where the account may not ask. 0, or -1 with err: no
 * answer. */
int redis_replicas_told(struct lb_session *session, struct redis_node *node, int *ret_count,
                        struct lb_err *err);
/* The fact "replicas"; count -1: not told. */
void redis_replicas_fact(struct lb_facts *facts, int count);

/* --- cluster.c --- */

/* The slot of a key: CRC16 of what stands between the first { and the next }, or of all of it. */
unsigned redis_slot(const char *key, size_t len);
/* Reads the text of CLUSTER NODES into the session's nodes and slots. 0, or -1 with err: malformed,
 * or too many nodes. */
int redis_cluster_parse(struct redis_state *state, const char *text, const char *asked_host,
                        struct lb_err *err);
/* The node that a MOVED or ASK error names; asked: who said so. NULL if malformed. *ret_slot its
 * slot. */
struct redis_node *redis_cluster_pointed(struct redis_state *state, const struct redis_node *asked,
                                         const char *error, unsigned *ret_slot);

/* --- sentinel.c --- */

/* Asks the sentinels of the URL, or its servers themselves, for the primary of a group until
 * deadline_ns, and connects node number `group` to it, anew if it was connected. The caller makes
 * sure that no round trip is on the node meanwhile. 0, or -1 with err; if nobody names a primary,
 * the node keeps its address. */
int redis_primary_connect(struct lb_session *session, int group, int64_t deadline_ns,
                          struct lb_err *err);
/* Checks that the sentinels agree and that each knows all others, the primary of each group and its
 * replicas; and fills the facts. 0, or -1 with err. */
int redis_sentinel_describe(struct lb_session *session, struct lb_facts *facts, struct lb_err *err);

#endif
