/* The ZooKeeper locks on a real server, and what a bare C client sees there: whose node
 * is whose on one session, the end of a session by the client's own clock; nodes as Curator makes them, connections
 * and answers that are lost within a session, a chroot.
 * Needs: servers. */
#define _GNU_SOURCE
#include <dirent.h>
#include <sys/socket.h>

#include "bench/servers/wire.h"
#include "drivers/tests/live_help.h"
#include "drivers/tests/zk_stranger.h"

#include "drivers/zookeeper/mutex.h"

#define SOON (20 * LB_S_NS) /* waits that ought to end do so by then */
#define KEY "orders/7 \"odd\" \xc3\xa9"
#define PATH "/lockbench/orders%2F7%20%22odd%22%20%C3%A9"

static struct live_place zk;

static void comes(struct live_client *client, const char *lock, const char *key) {
    live_come(client, live_other(&zk, lock), key);
}

/* A client on another's session: it has a request and a grant of its own. */
struct guest {
    struct lb_request request;
    struct lb_grant grant;
};

static void guest_init(struct guest *guest, struct live_client *host, uint32_t number) {
    *guest = (struct guest){.request = host->request};
    guest->request.client = number;
    guest->request.deadline_ns = lb_now() + SOON;
    guest->grant.data = calloc(1, host->session.lock->algorithm->grant_bytes);
}

static struct lb_session *told;
static int told_count;

static void note_loss(struct lb_session *session) {
    told = session;
    told_count++;
}

/* A server that is silent for as long as a session lasts: by our clock the lock is lost, whatever
 * the server thinks. The control does not notice. */
LIVE(&zk, a_silent_server_is_a_loss) {
    struct live_client holder, deaf;
    comes(&holder, "zk-lock", "silence");
    live_client_init(&deaf, live_other(&zk, "unsafe-zk-ignores-session-loss"), "deaf");
    holder.session.on_lost = deaf.session.on_lost = note_loss;
    holder.session.lease_ns = deaf.session.lease_ns = 4 * LB_S_NS;
    live_hang_up(&holder);
    live_connect(&holder);
    live_connect(&deaf);
    told = NULL;
    told_count = 0;
    CHECK(live_acquire(&holder, SOON) == LB_OK, "%s", holder.session.err.text);
    CHECK(live_acquire(&deaf, SOON) == LB_OK, "%s", deaf.session.err.text);
    topo_signal(zk.place->topo, 0, SIGSTOP);
    for (int64_t until_ns = lb_now() + SOON; !told && lb_now() < until_ns;)
        lb_sleep_until(lb_now() + 5 * LB_MS_NS);
    CHECK(told == &holder.session && told_count == 1, "the holder was not told");
    CHECK(live_release(&deaf) == LB_OK, "the control has no trouble");
    topo_signal(zk.place->topo, 0, SIGCONT);
    live_client_done(&holder);
    live_client_done(&deaf);
    CHECK(told_count == 1, "the control was told");
}

static void ask_for_the_root(void *arg) {
    struct Stat stat;
    int rc = zk_exists(zk_session_of(arg), "/", &stat);
    CHECK(rc == ZOK, "%s", zerror(rc));
}

/* A session lasts from before its last answered request was sent, whenever the answer came. */
LIVE(&zk, a_session_counts_from_its_requests) {
    enum { ASKS = 3 };
    struct live_client client;
    struct lb_fiber *asks[ASKS];
    comes(&client, "zk-lock", "counts");
    int64_t timeout_ns = zk_session_of(&client.session)->timeout_ms * LB_MS_NS;
    topo_signal(zk.place->topo, 0, SIGSTOP);
    int64_t before_ns = lb_now();
    for (int i = 0; i < ASKS; i++) {
        asks[i] = lb_start_fiber("asks", ask_for_the_root, &client.session);
        lb_sleep_until(lb_now() + 20 * LB_MS_NS);
    }
    int64_t after_ns = lb_now();
    topo_signal(zk.place->topo, 0, SIGCONT);
    for (int i = 0; i < ASKS; i++) lb_join(asks[i]);
    int64_t from_ns = client.session.lasts_until_ns - timeout_ns;
    CHECK(from_ns >= before_ns, "%lld us too short", (long long)(before_ns - from_ns) / 1000);
    CHECK(from_ns <= after_ns, "%lld us too long", (long long)(from_ns - after_ns) / 1000);
    /* A session that asks for nothing is kept by pings. */
    for (int64_t until_ns = lb_now() + SOON; lb_now() < until_ns;) {
        if (client.session.lasts_until_ns - timeout_ns > after_ns) break;
        lb_sleep_until(lb_now() + 5 * LB_MS_NS);
    }
    CHECK(client.session.lasts_until_ns - timeout_ns > after_ns, "no ping counted");
    live_client_done(&client);
}

struct sleeper {
    struct live_client *client;
    bool told_first;
};

static void hold_for_a_while(void *arg) {
    struct sleeper *sleeper = arg;
    lb_sleep_until(lb_now() + 50 * LB_MS_NS);
    sleeper->told_first = told == &sleeper->client->session;
}

/* The whole process stands still for longer than its sessions last, as if stopped: a holder learns
 * of its loss before its sleep is over, and a grant that the server sent before must not count. */
LIVE(&zk, a_process_that_was_away) {
    struct live_client holder, asker, other;
    struct live_waiter waiter = {.outcome = LB_OUTCOMES};
    struct sleeper sleeper = {.client = &holder};
    live_client_init(&holder, live_other(&zk, "zk-lock"), "away");
    live_client_init(&waiter.client, live_other(&zk, "zk-lock"), "asked");
    holder.session.lease_ns = waiter.client.session.lease_ns = 4 * LB_S_NS;
    holder.session.on_lost = note_loss;
    told = NULL;
    told_count = 0;
    live_connect(&holder);
    live_connect(&waiter.client);
    comes(&asker, "zk-lock", "asked"); /* makes the parents */
    CHECK(live_acquire(&asker, SOON) == LB_OK && live_release(&asker) == LB_OK);
    CHECK(live_acquire(&holder, SOON) == LB_OK, "%s", holder.session.err.text);
    /* Repeats until the client's last request is on its way when the process stops. */
    for (int tries = 0; tries < 200; tries++) {
        uint64_t asked = waiter.client.session.commands + 2;
        live_waiter_begin(&waiter);
        while (waiter.client.session.commands < asked && waiter.outcome == LB_OUTCOMES)
            lb_sleep_until(lb_now());
        if (waiter.outcome == LB_OUTCOMES) break;
        lb_join(waiter.fiber);
        waiter.fiber = NULL;
        CHECK(live_release(&waiter.client) == LB_OK, "%s", waiter.client.session.err.text);
    }
    CHECK(waiter.fiber != NULL, "its questions are answered too fast");
    if (!waiter.fiber) return;
    struct lb_fiber *sleeping = lb_start_fiber("sleeper", hold_for_a_while, &sleeper);
    int64_t until_ns = lb_now() + 8 * LB_S_NS; /* a session's end is rounded up to a tick */
    while (lb_now() < until_ns) poll(NULL, 0, (int)((until_ns - lb_now()) / LB_MS_NS) + 1);
    lb_join(sleeping);
    lb_join(waiter.fiber);
    CHECK(sleeper.told_first, "the holder woke up before it was told");
    CHECK(waiter.outcome == LB_BROKEN, "%s", lb_outcome_name(waiter.outcome));
    live_hang_up(&asker);
    live_connect(&asker);
    CHECK(live_acquire(&asker, SOON) == LB_OK, "%s", asker.session.err.text);
    CHECK(live_release(&asker) == LB_OK, "%s", asker.session.err.text);
    comes(&other, "zk-lock", "away");
    CHECK(live_acquire(&other, SOON) == LB_OK, "%s", other.session.err.text);
    CHECK(live_release(&holder) == LB_LOST, "%s", holder.session.err.text);
    CHECK(live_release(&other) == LB_OK, "%s", other.session.err.text);
    live_client_done(&other);
    live_client_done(&asker);
    live_client_done(&waiter.client);
    live_client_done(&holder);
}

/* Clients of one session of the C recipe: a client that does not know whether its node was made
 * must not take another client's node. */
LIVE(&zk, clients_of_a_session_know_their_nodes) {
    struct stranger third;
    struct live_client host;
    struct guest doubter;
    static const char path[] = "/lockbench/doubt";
    stranger_comes(&zk, &third, NULL);
    comes(&host, "zk-recipe", "doubt");
    CHECK(live_acquire(&host, SOON) == LB_OK, "%s", host.session.err.text);
    guest_init(&doubter, &host, 1);
    doubter.request.deadline_ns = 0;
    /* As after a creation whose answer was lost: the session, and no name. */
    struct zk_place *place = doubter.grant.data;
    snprintf(place->parent, sizeof place->parent, "%s", path);
    place->session = *zoo_client_id(zk_session_of(&host.session)->handle);
    CHECK(host.session.lock->algorithm->settle(&host.session, &doubter.request, &doubter.grant) ==
          LB_OK);
    CHECK(stranger_counts(&third, path) == 1, "settling took the holder's node");
    /* And one that was made is found. */
    char made[ZK_NAME_MAX], full[ZK_PATH_MAX];
    zk_recipe_base(place->session.client_id, made);
    snprintf(full, sizeof full, "%s/%s", path, made);
    int rc =
        zk_create(zk_session_of(&host.session), full, NULL, ZOO_EPHEMERAL_SEQUENTIAL, NULL, NULL);
    CHECK(rc == ZOK && stranger_counts(&third, path) == 2);
    place->session = *zoo_client_id(zk_session_of(&host.session)->handle);
    CHECK(host.session.lock->algorithm->settle(&host.session, &doubter.request, &doubter.grant) ==
          LB_OK);
    CHECK(stranger_counts(&third, path) == 1, "settling found nothing");
    CHECK(host.session.lock->algorithm->acquire(&host.session, &doubter.request, &doubter.grant) ==
          LB_BUSY);
    CHECK(live_release(&host) == LB_OK, "%s", host.session.err.text);
    CHECK(stranger_counts(&third, path) == 0);
    free(doubter.grant.data);
    live_client_done(&host);
    stranger_goes(&third);
}

static int queued(struct stranger *stranger) {
    return stranger_counts(stranger, PATH);
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

/* The same server by another URL. */
static void open_by(struct lb_server *server, const char *const *url) {
    struct lb_err err = {0};
    *server = zk.place->server;
    server->urls = url;
    server->state = calloc(1, server->backend->connector->server_bytes);
    CHECK(server->backend->connector->open(server, &err) == 0, "%s", err.text);
}

static struct wire *wire;
static int cut; /* its fault */

/* All connections end after so many more bytes of answers. */
static void cut_after(uint64_t bytes) {
    const struct wire_fault fault = {
        .kind = WIRE_MIDWAY, .ends = WIRE_ALL_ENDS, .then = WIRE_THEN_CUT, .bytes = bytes};
    struct lb_err err = {0};
    cut = wire_set(wire, &fault, &err);
    CHECK(cut >= 0, "%s", err.text);
}

/* Lets the connection through again, once an answer has been cut off. */
static void heal_when_struck(void *arg) {
    struct wire_sign seen = {0};
    struct lb_err err = {0};
    (void)arg;
    for (int64_t until_ns = lb_now() + 20 * LB_S_NS; !seen.struck && lb_now() < until_ns;) {
        lb_sleep_until(lb_now() + 5 * LB_MS_NS);
        wire_sign(wire, cut, &seen);
    }
    CHECK(seen.struck, "nothing was cut");
    CHECK(wire_heal(wire, &err) == 0, "%s", err.text);
}

/* Curator's protected creation: the server has made the node, its answer is lost, the session lives
 * on over a new connection. The node must be found again, not made twice; and a deletion in doubt
 * likewise. */
LIVE(&zk, answers_lost_within_a_session) {
    struct stranger stranger;
    struct live_client ours;
    struct lb_err err = {0};
    struct wire_end end = {.server_port = topo_port(zk.place->topo, 0, 0)};
    wire = wire_start(&end, 1, &err);
    CHECK(wire, "%s", err.text);
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
        cut_after(bytes);
        struct lb_fiber *healer = lb_start_fiber("heal", heal_when_struck, NULL);
        CHECK(live_acquire(&ours, SOON) == LB_OK, "%s", ours.session.err.text);
        lb_join(healer);
        CHECK(queued(&stranger) == 1, "%d nodes for one attempt", stranger.count);
        char path[ZK_PATH_MAX];
        snprintf(path, sizeof path, "%s/%.100s", PATH, stranger.text[0]);
        CHECK(ASK(&stranger, zoo_aget(stranger.handle, path, 0, on_data, &stranger)) == ZOK);
        CHECK((uint64_t)stranger.stat.czxid == ours.grant.token,
              "the token is that of the node found again");

        cut_after(bytes);
        healer = lb_start_fiber("heal", heal_when_struck, NULL);
        CHECK(live_release(&ours) == LB_OK, "%s", ours.session.err.text);
        lb_join(healer);
        CHECK(queued(&stranger) == 0);
    }
    live_client_done(&ours);
    stranger_goes(&stranger);
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
