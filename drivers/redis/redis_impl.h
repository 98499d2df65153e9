/* redis_impl: the declarations that the files of the redis backend share; the algorithms include only redis.h. */
#ifndef DRIVERS_REDIS_REDIS_IMPL_H
#define DRIVERS_REDIS_REDIS_IMPL_H

#include <hiredis.h>
#include <stddef.h>

#include "drivers/gate.h"
#include "drivers/redis/redis.h"
#include "drivers/sock.h"
#include "drivers/url.h"

#define REDIS_SLOTS 16384 /* slots of a cluster */

/* The kind of topology, by the URL's scheme: redis, redis+replicas, redis+sentinel, ... */
enum redis_mode { REDIS_SINGLE, REDIS_REPLICAS, REDIS_SENTINEL, REDIS_CLUSTER, REDIS_INDEPENDENTS };

struct redis_server {
    struct url url;
    enum redis_mode mode;
    char primary[64];     /* REDIS_SENTINEL: the name that the sentinels watch */
    char database[12];    /* to SELECT; "" = 0 */
    struct sock_tls *tls; /* NULL = not encrypted */
    struct {
        char user[URL_USER_MAX], password[URL_PASSWORD_MAX]; /* "" = none; never print them */
    } sentinels; /* the account that the sentinels ask for */
};

struct redis_options {
    int64_t command_timeout_ns;
    const char *sentinel_login; /* a file; NULL = none */
    const char *durability;     /* what the user states; see facts.h */
    struct lb_tls tls;
};

/* One connection. conn.c speaks RESP over it, and does not depend on the topology. */
struct redis_conn {
    struct lb_session *session;
    redisReader *reader; /* NULL = closed */
    struct sock sock;
    bool dead;
    int64_t deadline_ns; /* of the answer to its last command */
    bool counted;        /* the core counts its bytes (session->traffic_fd) */
    bool
        unread; /* of subscriptions: more bytes may be there, for which epoll reports no new edge */
    bool half_read; /* reader has a part of an answer, or bytes after the wanted replies */
    int have;       /* number of complete replies of this round trip */
    int owed; /* number of late replies of earlier round trips; they come first and are dropped */
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
/* The value after a name in an answer of names and values; "" if the name is not among the kept elements. */
const char *redis_after(const struct redis_reply *reply, const char *name);

/* Connects, logs in and selects the database, as the server's URL says. 0, or -1 with err; the caller
 * calls conn_close either way. sentinel: the host is a sentinel, with an account of its own and no databases. */
int conn_open(struct redis_conn *conn, struct lb_session *session, const char *host, int port,
              bool sentinel, int64_t deadline_ns, struct lb_err *err);
/* Closes the connection. First waits a moment for the replies that are still missing, so that the server
 * carries out the commands. Accepts a connection in any state. */
void conn_close(struct redis_conn *conn);

/* Writing the commands of one round trip: conn_begin, then conn_put for each command (first the
 * words of head, then words), then conn_send. The caller must not wait between them, since the
 * commands lie in a buffer that the thread's connections share. conn_put: false if the command does
 * not fit. */
void conn_begin(void);
bool conn_put(const struct redis_word *head, int head_count, const struct redis_word *words,
              int count);
/* Sends the commands. LB_OK; LB_BROKEN: no byte was sent; LB_UNKNOWN: a part was sent. After a failure the
 * connection is dead. */
enum lb_outcome conn_send(struct redis_conn *conn, int64_t deadline_ns);
/* Waits for `wanted` replies: conn->reply. LB_OK; LB_TIMEOUT: the deadline has passed, and replies are still
 * missing; LB_UNKNOWN: the connection is dead. */
enum lb_outcome conn_receive(struct redis_conn *conn, int wanted, int64_t deadline_ns);
/* Waits for one reply that no command asked for (a message); lb_wake on the waiting fiber ends the
 * wait too, with LB_TIMEOUT. */
enum lb_outcome conn_receive_next(struct redis_conn *conn, int64_t deadline_ns);
/* Sends one plain command and waits for its reply. 0 with the reply in conn->reply, which may be an
 * error reply; -1 with err: there was no reply. */
int conn_ask(struct redis_conn *conn, const struct redis_word *words, int count,
             int64_t deadline_ns, struct lb_err *err);
/* Whether the server has closed the connection, which nobody reads from now. */
bool conn_is_closed(const struct redis_conn *conn);
/* Marks the connection as dead. Sets session->err and returns outcome. */
enum lb_outcome conn_die(struct redis_conn *conn, enum lb_outcome outcome, const char *what,
                         const char *why);
/* Why no answer came by the deadline: lockbench cut off the wait, or the server was late. */
const char *conn_why_late(void);

struct redis_node {
    char host[128];
    int port;
    bool primary;            /* the node serves keys */
    struct gate gate;        /* one round trip at a time */
    int64_t no_sooner_ns;    /* a lost connection is not opened again before this moment */
    struct redis_conn *conn; /* NULL = not opened so far */
};

struct redis_cluster {
    bool helpers;              /* the session's lock has keys or channels beside the key */
    uint8_t node[REDIS_SLOTS]; /* index into state->node; REDIS_NOBODY = no node serves the slot */
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

/* Finds the node with this address, or adds it. NULL: there are too many nodes. */
struct redis_node *redis_node_add(struct redis_state *state, const char *host, int port);
/* Ends the node's connection, if there is one. */
void redis_node_drop(struct lb_session *session, struct redis_node *node);
/* Opens the node's connection; an existing one is replaced. 0, or -1 with err and a dead connection. */
int redis_node_connect(struct lb_session *session, struct redis_node *node, int64_t deadline_ns,
                       struct lb_err *err);
/* The same, but of a primary with replicas it first asks who is the primary, which is at another
 * address after a failover. */
int redis_node_reach(struct lb_session *session, struct redis_node *node, int64_t deadline_ns,
                     struct lb_err *err);
/* The deadline for the answer to a command that is sent now. */
int64_t redis_answer_deadline(const struct lb_session *session);
/* Names that are sent together behind the words of a command: to each primary; in a cluster keys of one slot go to
 * their node. */
#define REDIS_BATCH                                                                                \
    20 /* a reply keeps twice as many elements, and NUMSUB answers with two for each */
struct redis_batch {
    struct lb_session *session;
    struct lb_err *err;
    const char *command[3];     /* "UNLINK"; "PUBSUB", "NUMSUB" for channels; then NULL */
    struct lb_residue *residue; /* counts those that are there, by the answers; may be NULL */
    int count;
    char name[REDIS_BATCH][LB_KEY_MAX + 64];
};
/* Both may send: 0, or -1 with batch->err. */
int redis_batch_add(struct redis_batch *batch, const char *name);
int redis_batch_flush(struct redis_batch *batch);

/* Removes the keys that lockbench left on the primaries; see drivers/clean.h. */
lb_clean_fn redis_clean;

#define REDIS_CURSOR_BYTES 24

/* Sets the cursor of a SCAN to the one in its answer; "0" = the SCAN is complete. 0, or -1 with err: this is
 * no answer to SCAN, or it has the same cursor again, or the SCAN is not complete although deadline_ns or
 * the cut-off has passed. */
int redis_scan_on(const struct redis_reply *reply, char cursor[REDIS_CURSOR_BYTES],
                  int64_t deadline_ns, struct lb_err *err);

/* Sends one command to one node. 0 with *ret_reply, which is no error reply; or -1 with err. */
int redis_ask(struct lb_session *session, struct redis_node *node, const struct redis_word *words,
              int count, const struct redis_reply **ret_reply, struct lb_err *err);

/* Asks this node for CLUSTER NODES, and reads the answer into the session's nodes and slots. 0, or -1
 * with err. */
int redis_cluster_learn(struct lb_session *session, struct redis_node *from, struct lb_err *err);

/* --- describe.c --- */

lb_describe_fn redis_describe;
/* As redis_replicas, but *ret_count is -1 where the account may not ask. 0, or -1 with err: no
 * answer. */
int redis_replicas_told(struct lb_session *session, struct redis_node *node, int *ret_count,
                        struct lb_err *err);

/* --- nodes.c: clusters --- */

/* The slot of a key: the CRC16 of the text between the first { and the next }, or of the whole key. */
unsigned redis_slot(const char *key, size_t len);
/* Reads the text of CLUSTER NODES into the session's nodes and slots. 0, or -1 with err: malformed,
 * or too many nodes. */
int redis_cluster_parse(struct redis_state *state, const char *text, const char *asked_host,
                        struct lb_err *err);
/* The node that a MOVED or ASK error names, and the slot in *ret_slot. asked: the node that sent the error.
 * NULL if the error is malformed. */
struct redis_node *redis_cluster_pointed(struct redis_state *state, const struct redis_node *asked,
                                         const char *error, unsigned *ret_slot);

/* --- nodes.c: sentinels --- */

/* Asks the sentinels of the URL, or its servers themselves, for the primary until deadline_ns, and
 * connects the first node to it, anew if it was connected. The caller makes sure that no round trip is
 * on the node meanwhile. 0, or -1 with err; if nobody names a primary, the node keeps its address. */
int redis_primary_connect(struct lb_session *session, int64_t deadline_ns, struct lb_err *err);
/* Checks that the sentinels agree and that each knows all others, the primary and its replicas. 0, or
 * -1 with err. */
int redis_sentinel_describe(struct lb_session *session, struct lb_err *err);

/* sha1: the digest by which EVALSHA names a script (FIPS 180-4). Do not use it for security. */

/* Writes 40 hex digits and a NUL. */
void sha1_hex(const void *data, size_t len, char out[41]);

#endif
