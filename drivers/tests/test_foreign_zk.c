/* zk-lock against a foreign client that plays Curator's protocol by hand, on ZooKeeper's bare C
 * client: each excludes the other, both ways; the nodes look as Curator's InterProcessMutex makes
 * them; and what happens to the lock if its session ends or the server dies.
 * Needs: servers. */
#define _GNU_SOURCE
#include <dirent.h>
#include <sys/socket.h>

#include "bench/conform/proxy.h"
#include "bench/servers/wire.h"
#include "drivers/tests/live_help.h"

#include "drivers/tests/zk_stranger.h"
#include "drivers/zookeeper/mutex.h"

#define SOON (20 * LB_S_NS) /* waits that ought to end do so by then */
#define AWAY (10 * LB_S_NS)
#define KEY "orders/7 \"odd\" \xc3\xa9"
#define PATH "/lockbench/orders%2F7%20%22odd%22%20%C3%A9"

static struct live_place zk;

static int queued(struct stranger *stranger) {
    return stranger_counts(stranger, PATH);
}

static bool wait_for_queued(struct stranger *stranger, int count) {
    return stranger_awaits(stranger, PATH, count);
}

/* Queues as Curator would; the new node's path into own. */
static void stranger_queues(struct stranger *stranger, char own[ZK_PATH_MAX]) {
    static const char base[] = PATH "/_c_6f7b8a3e-1c2d-4e5f-8a9b-0c1d2e3f4a5b-lock-";
    int rc =
        ASK(stranger, zoo_acreate2(stranger->handle, base, "127.0.0.1", 9, &ZOO_OPEN_ACL_UNSAFE,
                                   ZOO_EPHEMERAL_SEQUENTIAL, on_path, stranger));
    CHECK(rc == ZOK, "%s", zerror(rc));
    snprintf(own, ZK_PATH_MAX, "%s", stranger->text[0]);
}

static void stranger_deletes(struct stranger *stranger, const char *path) {
    int rc = ASK(stranger, zoo_adelete(stranger->handle, path, -1, on_void, stranger));
    CHECK(rc == ZOK, "%s", zerror(rc));
}

static bool is_curators(const char *name) {
    static const char shape[] = "_c_xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx-lock-0000000000";
    if (strlen(name) != sizeof shape - 1) return false;
    for (size_t i = 0; shape[i]; i++) {
        const char *allowed = shape[i] == 'x' ? "0123456789abcdef" : "0123456789";
        bool free_choice = shape[i] == 'x' || shape[i] == '0';
        if (free_choice ? !strchr(allowed, name[i]) : name[i] != shape[i]) return false;
    }
    return true;
}

/* Whether the server's transaction log has the creation of a container of this path; no answer of
 * the server's tells containers from other nodes. */
static bool made_as_container(const char *path) {
    char folder[600], record[4 + 4 + 200], name[900];
    size_t len = strlen(path);
    memcpy(record, "\0\0\0\x13\0\0\0", 7); /* type 19, createContainer; the path's length */
    record[7] = (char)len;
    memcpy(record + 8, path, len);
    snprintf(folder, sizeof folder, "%s/data/version-2", topo_dir(zk.place->topo, 0));
    DIR *dir = opendir(folder);
    bool found = false;
    CHECK(dir != NULL, "no folder %s", folder);
    for (struct dirent *entry; dir && !found && (entry = readdir(dir));) {
        static char text[1 << 20]; /* its beginning */
        if (strncmp(entry->d_name, "log.", 4) != 0) continue;
        snprintf(name, sizeof name, "%s/%s", folder, entry->d_name);
        FILE *file = fopen(name, "r");
        size_t got = file ? fread(text, 1, sizeof text, file) : 0;
        found = memmem(text, got, record, 8 + len) != NULL;
        if (file) fclose(file);
    }
    if (dir) closedir(dir);
    return found;
}

LIVE(&zk, nodes_are_curators) {
    struct stranger stranger;
    struct live_client ours;
    char path[ZK_PATH_MAX];
    stranger_comes(&zk, &stranger, NULL);
    live_come(&ours, &zk, KEY);
    CHECK(live_acquire(&ours, SOON) == LB_OK, "%s", ours.session.err.text);

    CHECK(queued(&stranger) == 1);
    CHECK(is_curators(stranger.text[0]), "the node is '%s'", stranger.text[0]);
    snprintf(path, sizeof path, "%s/%.100s", PATH, stranger.text[0]);
    CHECK(ASK(&stranger, zoo_aget(stranger.handle, path, 0, on_data, &stranger)) == ZOK);
    CHECK(strcmp(stranger.text[0], "127.0.0.1") == 0, "the data is '%s'", stranger.text[0]);
    CHECK(stranger.stat.ephemeralOwner ==
          zoo_client_id(zk_session_of(&ours.session)->handle)->client_id);
    CHECK((uint64_t)stranger.stat.czxid == ours.grant.token);
    CHECK(made_as_container(PATH), "the parent is a container");
    CHECK(made_as_container("/lockbench"), "and so is its own");

    CHECK(live_release(&ours) == LB_OK, "%s", ours.session.err.text);
    CHECK(queued(&stranger) == 0);
    live_client_done(&ours);
    stranger_goes(&stranger);
}

struct handover {
    struct stranger *stranger;
    const char *path;
};

static void stranger_lets_go(void *arg) {
    const struct handover *handover = arg;
    CHECK(wait_for_queued(handover->stranger, 2), "ours never queued");
    stranger_deletes(handover->stranger, handover->path);
}

LIVE(&zk, exclude_each_other) {
    struct stranger stranger;
    struct live_client ours;
    char path[ZK_PATH_MAX], ahead[ZK_PATH_MAX];
    stranger_comes(&zk, &stranger, NULL);
    live_come(&ours, &zk, KEY);
    CHECK(live_acquire(&ours, SOON) == LB_OK, "%s", ours.session.err.text); /* makes the parents */
    CHECK(live_release(&ours) == LB_OK, "%s", ours.session.err.text);

    /* The foreign client holds. */
    stranger_queues(&stranger, path);
    uint64_t token = (uint64_t)stranger.stat.czxid;
    CHECK(live_acquire(&ours, 0) == LB_BUSY, "%s", ours.session.err.text);
    CHECK(live_acquire(&ours, 30 * LB_MS_NS) == LB_TIMEOUT, "%s", ours.session.err.text);
    CHECK(queued(&stranger) == 1, "a waiter that gave up is still in the queue");
    struct handover handover = {&stranger, path};
    struct lb_fiber *helper = lb_start_fiber("stranger", stranger_lets_go, &handover);
    CHECK(live_acquire(&ours, SOON) == LB_OK, "%s", ours.session.err.text);
    lb_join(helper);
    CHECK(ours.grant.token > token, "our token is not greater than the foreign client's");

    /* Ours holds: the foreign client's node comes second, and its watch fires when our node is deleted. */
    stranger_queues(&stranger, path);
    CHECK(queued(&stranger) == 2);
    char *names[] = {stranger.text[0], stranger.text[1]};
    int before = zk_ahead_lock(names, 2, strrchr(path, '/') + 1);
    CHECK(before >= 0, "the foreign client's node is not the second one");
    snprintf(ahead, sizeof ahead, "%s/%.100s", PATH, names[before < 0 ? 0 : before]);
    CHECK(ASK(&stranger,
              zoo_awget(stranger.handle, ahead, on_event, &stranger, on_data, &stranger)) == ZOK);
    CHECK(!stranger.event);
    CHECK(live_release(&ours) == LB_OK, "%s", ours.session.err.text);
    for (int64_t until_ns = lb_now() + 20 * LB_S_NS; !stranger.event && lb_now() < until_ns;) {
        pump_once(&stranger, 10);
        lb_yield();
    }
    CHECK(stranger.event, "the foreign client was not told of our release");
    CHECK(live_acquire(&ours, 0) == LB_BUSY, "acquired while the foreign client holds it");
    CHECK(live_release(&ours) == LB_LOST, "a release of nothing must not succeed");
    CHECK(queued(&stranger) == 1, "our release deleted the foreign client's node");

    /* A foreign client that ends frees it, and so does ours. */
    stranger_goes(&stranger);
    CHECK(live_acquire(&ours, 20 * LB_S_NS) == LB_OK, "%s", ours.session.err.text);
    stranger_comes(&zk, &stranger, NULL);
    CHECK(queued(&stranger) == 1);
    live_hang_up(&ours);
    CHECK(queued(&stranger) == 0, "the end of our session leaves nothing");
    stranger_goes(&stranger);
    live_client_done(&ours);
}

/* Nodes of other recipes in the same folder: Curator sorts the nodes of its read-write lock behind
 * those of the mutex, and so must our driver. */
LIVE(&zk, other_recipes_nodes) {
    struct stranger stranger;
    struct live_client ours;
    stranger_comes(&zk, &stranger, NULL);
    live_come(&ours, &zk, KEY);
    CHECK(live_acquire(&ours, SOON) == LB_OK, "%s", ours.session.err.text);
    CHECK(live_release(&ours) == LB_OK, "%s", ours.session.err.text);
    static const char base[] = PATH "/_c_6f7b8a3e-1c2d-4e5f-8a9b-0c1d2e3f4a5b-__READ__";
    CHECK(ASK(&stranger, zoo_acreate2(stranger.handle, base, "", 0, &ZOO_OPEN_ACL_UNSAFE,
                                      ZOO_EPHEMERAL_SEQUENTIAL, on_path, &stranger)) == ZOK);
    CHECK(live_acquire(&ours, 0) == LB_OK, "%s", ours.session.err.text);
    CHECK(live_release(&ours) == LB_OK, "%s", ours.session.err.text);
    stranger_goes(&stranger);
    live_client_done(&ours);
}

/* Ends our session from elsewhere, as an expiry does, by taking it up again and closing it. */
static void end_session_of(const struct live_client *client) {
    struct stranger thief;
    clientid_t id = *zoo_client_id(zk_session_of(&client->session)->handle);
    stranger_comes(&zk, &thief, &id);
    stranger_goes(&thief);
    shutdown(client->session.traffic_fd, SHUT_RDWR); /* an expiry would hang up too */
}

struct theft {
    struct stranger *stranger;
    const struct live_client *victim;
};

static void end_when_queued(void *arg) {
    const struct theft *theft = arg;
    CHECK(wait_for_queued(theft->stranger, 2), "the second never queued");
    end_session_of(theft->victim);
}

/* If our session ends, a holder gets LOST, and a waiter does not get the lock. */
LIVE(&zk, a_session_ends) {
    struct stranger stranger;
    struct live_client holder, waiter;
    stranger_comes(&zk, &stranger, NULL);
    live_come(&holder, &zk, KEY);
    live_come(&waiter, &zk, KEY);
    CHECK(live_acquire(&holder, SOON) == LB_OK, "%s", holder.session.err.text);

    struct theft theft = {&stranger, &waiter};
    struct lb_fiber *helper = lb_start_fiber("theft", end_when_queued, &theft);
    enum lb_outcome outcome = live_acquire(&waiter, SOON);
    CHECK(outcome == LB_BROKEN, "a waiter without its session: %s: %s", lb_outcome_name(outcome),
          waiter.session.err.text);
    lb_join(helper);
    CHECK(live_acquire(&waiter, 0) == LB_BROKEN, "a session that has ended");
    live_hang_up(&waiter);
    live_connect(&waiter);
    CHECK(live_acquire(&waiter, 0) == LB_BUSY, "%s", waiter.session.err.text);

    end_session_of(&holder);
    CHECK(live_acquire(&waiter, 20 * LB_S_NS) == LB_OK, "%s", waiter.session.err.text);
    CHECK(live_release(&holder) == LB_LOST, "the lock went to somebody else");
    CHECK(live_release(&waiter) == LB_OK, "%s", waiter.session.err.text);
    live_client_done(&holder);
    live_client_done(&waiter);
    stranger_goes(&stranger);
}

/* A request whose answer does not come is neither held nor free, until it is settled on a new
 * session. */
LIVE(&zk, an_attempt_is_settled) {
    struct stranger stranger;
    struct live_client ours;
    live_come(&ours, &zk, KEY);
    const struct lb_lock *lock = ours.session.lock;
    topo_signal(zk.place->topo, 0, SIGSTOP);
    enum lb_outcome doubt = live_acquire(&ours, SOON);
    CHECK(doubt == LB_UNKNOWN, "%s: %s", lb_outcome_name(doubt), ours.session.err.text);
    live_hang_up(&ours);
    topo_signal(zk.place->topo, 0, SIGCONT);
    stranger_comes(&zk, &stranger, NULL);
    live_connect(&ours);
    CHECK(live_settle(&ours) == LB_OK, "%s", ours.session.err.text);
    CHECK(queued(&stranger) == 0);
    CHECK(live_settle(&ours) == LB_OK, "once more is harmless");

    /* As if the attempt had succeeded: a node of a session that lives, whose client is not heard of
     * any more. */
    struct stranger lost;
    struct zk_place place = {0};
    char path[ZK_PATH_MAX];
    stranger_comes(&zk, &lost, NULL);
    stranger_queues(&lost, path);
    CHECK(queued(&stranger) == 1);
    place.session = *zoo_client_id(lost.handle);
    struct lb_grant grant = {.data = &place};
    CHECK(lock->algorithm->settle(&ours.session, &ours.request, &grant) == LB_OK, "%s",
          ours.session.err.text);
    CHECK(queued(&stranger) == 0);
    stranger_goes(&lost);
    live_client_done(&ours);
    stranger_goes(&stranger);
}

/* The session outlives its connections: a request whose sending finds the connection broken goes
 * out over the next one. */
LIVE(&zk, a_connection_breaks) {
    struct stranger stranger;
    struct live_client ours;
    stranger_comes(&zk, &stranger, NULL);
    live_come(&ours, &zk, KEY);
    for (int i = 0; i < 3; i++) {
        shutdown(ours.session.traffic_fd, SHUT_RDWR);
        CHECK(live_acquire(&ours, SOON) == LB_OK, "%s", ours.session.err.text);
        CHECK(queued(&stranger) == 1, "one attempt makes one node");
        shutdown(ours.session.traffic_fd, SHUT_RDWR);
        CHECK(live_release(&ours) == LB_OK, "%s", ours.session.err.text);
        CHECK(queued(&stranger) == 0);
    }
    live_client_done(&ours);
    stranger_goes(&stranger);
}

static void server_dies_and_returns(void *arg) {
    const struct zk_session *waiting = arg;
    struct topo *topo = zk.place->topo;
    struct lb_err err = {0};
    int64_t until_ns = lb_now() + AWAY;
    while (!waiting->idlers && lb_now() < until_ns) lb_sleep_until(lb_now() + 5 * LB_MS_NS);
    CHECK(waiting->idlers, "the waiter's watch was not set");
    topo_signal(topo, 0, SIGKILL);
    while (topo_check(topo, NULL) == 0) lb_sleep_until(lb_now() + 5 * LB_MS_NS);
    CHECK(topo_restart(topo, 0, &err) == 0, "%s", err.text);
}

static void release_later(void *arg) {
    struct live_client *holder = arg;
    lb_sleep_until(lb_now() + 20 * LB_MS_NS);
    CHECK(live_release(holder) == LB_OK, "%s", holder->session.err.text);
}

/* Holder and waiter live through a server that dies and comes back with its data within their
 * sessions, and the watch that was set before it died still fires. */
LIVE(&zk, the_server_restarts) {
    struct live_client holder, waiter;
    live_come(&holder, &zk, KEY);
    live_come(&waiter, &zk, KEY);
    CHECK(live_acquire(&holder, SOON) == LB_OK, "%s", holder.session.err.text);
    struct lb_fiber *killer =
        lb_start_fiber("kill", server_dies_and_returns, zk_session_of(&waiter.session));
    /* Longer than a server needs to come back: the waiter that gives up has to delete its node there. */
    CHECK(live_acquire(&waiter, AWAY) == LB_TIMEOUT, "%s", waiter.session.err.text);
    lb_join(killer);
    struct lb_fiber *helper = lb_start_fiber("release", release_later, &holder);
    CHECK(live_acquire(&waiter, SOON) == LB_OK, "%s", waiter.session.err.text);
    lb_join(helper);
    CHECK(live_release(&waiter) == LB_OK, "%s", waiter.session.err.text);
    live_client_done(&holder);
    live_client_done(&waiter);
}

/* The same server by another URL. */
static void open_by(struct lb_server *server, const char *const *url) {
    struct lb_err err = {0};
    *server = zk.place->server;
    server->urls = url;
    server->state = calloc(1, server->backend->connector->server_bytes);
    CHECK(server->backend->connector->open(server, &err) == 0, "%s", err.text);
}

/* Lets the connection through again, once an answer has been cut off. */
static void heal_when_struck(void *arg) {
    struct proxy *proxy = arg;
    int64_t until_ns = lb_now() + 20 * LB_S_NS;
    while (!proxy_struck(proxy) && lb_now() < until_ns) lb_sleep_until(lb_now() + 5 * LB_MS_NS);
    CHECK(proxy_struck(proxy), "nothing was cut");
    proxy_heal(proxy);
}

/* Curator's protected creation: the server has made the node, its answer is lost, the session lives
 * on over a new connection. The node must be found again, not made twice; and a deletion in doubt
 * likewise. */
LIVE(&zk, answers_lost_within_a_session) {
    struct stranger stranger;
    struct live_client ours;
    struct lb_err err = {0};
    struct wire_end end = {.server_port = topo_port(zk.place->topo, 0, 0)};
    struct wire *wire = wire_start(&end, 1, &err);
    CHECK(wire, "%s", err.text);
    struct proxy *proxy = proxy_over(wire, &err);
    char url[80];
    const char *urls[] = {url};
    struct lb_server server;
    snprintf(url, sizeof url, "zookeeper://127.0.0.1:%d", wire_port(wire, 0));
    open_by(&server, urls);
    stranger_comes(&zk, &stranger, NULL);
    live_client_init(&ours, &zk, KEY);
    ours.session.server = &server;
    live_connect(&ours);
    CHECK(live_acquire(&ours, SOON) == LB_OK, "%s", ours.session.err.text); /* makes the parents */
    CHECK(live_release(&ours) == LB_OK, "%s", ours.session.err.text);
    for (uint64_t bytes = 0; bytes < 3; bytes++) {
        proxy_arm(proxy, PROXY_CUT, bytes);
        struct lb_fiber *healer = lb_start_fiber("heal", heal_when_struck, proxy);
        CHECK(live_acquire(&ours, SOON) == LB_OK, "%s", ours.session.err.text);
        lb_join(healer);
        CHECK(queued(&stranger) == 1, "%d nodes for one attempt", stranger.count);
        char path[ZK_PATH_MAX];
        snprintf(path, sizeof path, "%s/%.100s", PATH, stranger.text[0]);
        CHECK(ASK(&stranger, zoo_aget(stranger.handle, path, 0, on_data, &stranger)) == ZOK);
        CHECK((uint64_t)stranger.stat.czxid == ours.grant.token,
              "the token is that of the node found again");

        proxy_arm(proxy, PROXY_CUT, bytes);
        healer = lb_start_fiber("heal", heal_when_struck, proxy);
        CHECK(live_release(&ours) == LB_OK, "%s", ours.session.err.text);
        lb_join(healer);
        CHECK(queued(&stranger) == 0);
    }
    live_client_done(&ours);
    stranger_goes(&stranger);
    proxy_stop(proxy);
    wire_stop(wire);
    free(server.state);
}

/* A chroot is made when it is missing, and keeps its locks apart. */
LIVE(&zk, a_chroot) {
    struct stranger stranger;
    struct live_client ours, apart;
    char url[80];
    const char *urls[] = {url};
    struct lb_server server;
    snprintf(url, sizeof url, "zookeeper://127.0.0.1:%d/team/app/",
             topo_port(zk.place->topo, 0, 0));
    open_by(&server, urls);
    stranger_comes(&zk, &stranger, NULL);
    live_come(&ours, &zk, KEY);
    live_client_init(&apart, &zk, KEY);
    apart.session.server = &server;
    live_connect(&apart);
    CHECK(live_acquire(&ours, 0) == LB_OK, "%s", ours.session.err.text);
    CHECK(live_acquire(&apart, 0) == LB_OK, "%s", apart.session.err.text);
    CHECK(ASK(&stranger,
              zoo_aget_children(stranger.handle, "/team/app" PATH, 0, on_names, &stranger)) == ZOK);
    CHECK(stranger.count == 1);
    CHECK(live_release(&apart) == LB_OK, "%s", apart.session.err.text);
    CHECK(live_release(&ours) == LB_OK, "%s", ours.session.err.text);
    live_client_done(&apart);
    live_client_done(&ours);
    stranger_goes(&stranger);
    free(server.state);
}

LIVE_MAIN(zk, NULL, "zk-lock", "zookeeper.command_timeout=3s", NULL)
