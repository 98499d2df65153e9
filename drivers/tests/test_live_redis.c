/* test_live_redis: sessions on real Redis topologies while these change: a slot moves between the
 * nodes of a cluster, Sentinels or somebody by hand promote a replica, replicas and servers of five
 * hang or die; and how a cluster handles a script whose keys are in two slots.
 * Needs: servers. */
#include "bench/conform/conform_place.h"
#include "bench/conform/conform_trial.h"
#include "drivers/tests/live_help.h"

#include "drivers/redis/redis_impl.h"
#include "drivers/redis/string.h"

/* A lock on a topology of its own, for one test. */
struct scene {
    struct arena arena;
    struct plan_lock planned;
    struct place *place;
    const char *missing;
};

static struct scene scene;

FIXTURE(close_scene) {
    place_close(scene.place);
    arena_done(&scene.arena);
    memset(&scene, 0, sizeof scene);
    return 0;
}

static void play(const char *lock, const char *topology, const char *const *sets,
                 void (*script)(struct trial *)) {
    static char why[400];
    struct lb_err err = {0};
    scene.missing = conform_lacks(registry_lock(lock), topology, why, sizeof why);
    if (!scene.missing && system("command -v redis-cli >/dev/null") != 0)
        scene.missing = "redis-cli is missing: install redis-tools";
    LIVE_NEEDS(&scene);
    if (conform_lock(registry_lock(lock), sets, &scene.arena, &scene.planned, &err) != 0 ||
        !(scene.place = conform_open(&scene.planned, topology, &err))) {
        fail_msg("%s", err.text);
    }
    struct trial trial = {.lock = &scene.planned, .place = scene.place};
    trial_run(&trial, script);
    if (trial.failure[0]) fail_msg("%s", trial.failure);
}

/* What redis-cli prints, told to one node; blocks our loop meanwhile. */
__attribute__((format(printf, 2, 3))) static const char *cli(int node, const char *format, ...) {
    static char answer[2][256];
    static int turn;
    char command[512];
    va_list args;
    int used = snprintf(command, sizeof command, "redis-cli --raw -p %d ",
                        topo_port(scene.place->topo, node, 0));
    turn = !turn;
    va_start(args, format);
    vsnprintf(command + used, sizeof command - (size_t)used, format, args);
    va_end(args);
    FILE *out = popen(command, "r");
    size_t len = out ? fread(answer[turn], 1, sizeof answer[turn] - 1, out) : 0;
    if (out) pclose(out);
    answer[turn][len] = '\0';
    answer[turn][strcspn(answer[turn], "\n")] = '\0';
    return answer[turn];
}

/* Acquires during a failover: a session that breaks is opened again, as the core does. A session that is open stays: it
 * may find the new primary by itself. */
static bool acquire_somehow(struct trial *trial, struct actor *client,
                            const struct trial_key *key) {
    int64_t until_ns = trial_soon() + 60 * LB_S_NS;
    while (lb_now() < until_ns && !trial_failed(trial)) {
        bool open = client->connected || actor_open(client);
        if (open && actor_acquire(client, key, lb_now() + LB_S_NS) == LB_OK) return true;
        actor_close(client);
        trial_sleep_until(lb_now() + 100 * LB_MS_NS);
    }
    trial_fail(trial, "no lock after the failover: %s", client->session.err.text);
    return false;
}

/* --- cluster --- */

static int holder_of(unsigned slot) {
    return slot <= 5460 ? 0 : slot <= 10922 ? 1 : 2; /* as the topology's script has it */
}

/* A script that gets its owner's id as a key, as some libraries do, is refused, because the id has a slot of its own.
 * As an argument, or with the key's tag, the same id is accepted. */
static void ids_are_no_keys(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *client = actor_new(trial);
    const struct redis_reply *reply = NULL;
    char id[32], tagged[LB_KEY_MAX + 16];
    int number = 0;
    do snprintf(id, sizeof id, "owner-%d", number++);
    while (redis_slot(id, strlen(id)) == redis_slot(key.name, key.len));
    redis_tagged(tagged, sizeof tagged, "", key.name, key.len, id);
    struct redis_word words[] = {{key.name, key.len}, {id, 0}};
    struct lb_session *session = &client->session;
    MUST_GIVE(client, redis_eval(session, &script_string_release, 1, words, 2, &reply), LB_OK);
    MUST(trial, reply->value.type == REDIS_INTEGER, "as an argument: %s", reply->value.text);
    MUST_GIVE(client, redis_eval(session, &script_string_release, 2, words, 2, &reply), LB_OK);
    MUST(trial, reply->value.type == REDIS_ERROR, "an id was taken as a key");
    MUST(trial, strncmp(reply->value.text, "CROSSSLOT ", 10) == 0, "refused with %s",
         reply->value.text);
    MUST_GIVE(client, redis_refuse(session, reply), LB_REFUSED);
    MUST(trial,
         strstr(session->err.text, "hash to the same slot: in a cluster all keys of a script"),
         "the reason is: %s", session->err.text);
    words[1].text = tagged;
    const struct redis_word all[] = {words[0], words[1], {id, 0}};
    MUST_GIVE(client, redis_eval(session, &script_string_release, 2, all, 3, &reply), LB_OK);
    MUST(trial, reply->value.type == REDIS_INTEGER, "with the key's tag: %s", reply->value.text);
}

TEST_WITH(test_ids_are_no_keys, NULL, close_scene) {
    play("redis-setnx", "redis-cluster", NULL, ids_are_no_keys);
}

/* A slot on its way: ASK; then at its new place: MOVED. The holder and the waiter go with it. */
static void slot_moves(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *holder = actor_new(trial), *waiter = actor_new(trial);
    unsigned slot = redis_slot(key.name, key.len);
    int from = holder_of(slot), to = (from + 1) % 3;
    char from_id[64], to_id[64];
    snprintf(from_id, sizeof from_id, "%s", cli(from, "cluster myid"));
    snprintf(to_id, sizeof to_id, "%s", cli(to, "cluster myid"));
    /* The key is not there, so the old node sends whoever asks for it to the new one. */
    MUST(trial, strcmp(cli(to, "cluster setslot %u importing %s", slot, from_id), "OK") == 0,
         "importing");
    MUST(trial, strcmp(cli(from, "cluster setslot %u migrating %s", slot, to_id), "OK") == 0,
         "migrating");
    MUST_GIVE(holder, actor_acquire(holder, &key, trial_soon()), LB_OK);
    MUST_GIVE(waiter, actor_acquire(waiter, &key, TRIAL_TRY), LB_BUSY);
    MUST(trial, strcmp(cli(to, "cluster countkeysinslot %u", slot), "1") == 0,
         "the key is not at the new node");
    MUST(trial, strcmp(cli(from, "cluster countkeysinslot %u", slot), "0") == 0,
         "the key is at the old node");
    MUST_GIVE(holder, actor_renew(holder, 30 * LB_S_NS), LB_OK);
    actor_begin_acquire(waiter, &key, trial_soon());
    /* The slot has arrived. */
    MUST(trial, strcmp(cli(to, "cluster setslot %u node %s", slot, to_id), "OK") == 0, "arriving");
    MUST(trial, strcmp(cli(from, "cluster setslot %u node %s", slot, to_id), "OK") == 0, "leaving");
    trial_sleep_until(lb_now() + 100 * LB_MS_NS);
    MUST(trial, actor_is_busy(waiter), "the waiter got %s while the key is held",
         lb_outcome_name(waiter->outcome));
    MUST_GIVE(holder, actor_release(holder), LB_OK);
    MUST_GIVE(waiter, actor_end(waiter), LB_OK);
    uint64_t before = waiter->session.commands;
    MUST_GIVE(waiter, actor_release(waiter), LB_OK);
    MUST(trial, waiter->session.commands == before + 1, "the move is not remembered: %d commands",
         (int)(waiter->session.commands - before));
}

TEST_WITH(test_slot_moves, NULL, close_scene) {
    play("redis-setnx", "redis-cluster", NULL, slot_moves);
}

/* The cluster itself promotes the replica of a primary that died, which comes back as a replica: clients find the slots
 * where they are. The replica may not know the last grants of the dead primary, so the test is of the driver's
 * reconnecting, not of exclusion. */
static void cluster_fails_over(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *client = actor_new(trial);
    struct topo *topo = scene.place->topo;
    struct lb_err err = {0};
    int primary = holder_of(redis_slot(key.name, key.len)), replica = primary + 3;
    MUST_GIVE(client, actor_acquire(client, &key, trial_soon()), LB_OK);
    MUST_GIVE(client, actor_release(client), LB_OK);
    /* A replica that has never had its primary's data is not promoted. */
    MUST(trial, strcmp(cli(primary, "wait 1 60000"), "1") == 0, "the replica does not follow");
    MUST(trial, topo_kill(topo, primary, &err) == 0, "%s", err.text);
    if (!acquire_somehow(trial, client, &key)) return;
    MUST(trial, strcmp(cli(replica, "role"), "master") == 0, "the replica is no primary");
    MUST(trial, strcmp(cli(replica, "exists %s", key.name), "1") == 0,
         "the lock is not on what was the replica");
    MUST_GIVE(client, actor_release(client), LB_OK);
    MUST(trial, topo_restart(topo, primary, &err) == 0, "%s", err.text);
    int64_t until_ns = lb_now() + 60 * LB_S_NS;
    while (strcmp(cli(primary, "role"), "slave") != 0 && lb_now() < until_ns)
        trial_sleep_until(lb_now() + 100 * LB_MS_NS);
    MUST(trial, strcmp(cli(primary, "role"), "slave") == 0, "the old primary is no replica");
    actor_close(client);
    if (!acquire_somehow(trial, client, &key)) return;
    MUST(trial, strcmp(cli(replica, "exists %s", key.name), "1") == 0, "led to the old primary");
    MUST_GIVE(client, actor_release(client), LB_OK);
}

TEST_WITH(test_cluster_fails_over, NULL, close_scene) {
    play("redis-setnx", "redis-cluster", NULL, cluster_fails_over);
}

/* --- sentinels --- */

/* Until all Sentinels name another primary than node 0: one that has not heard of the failover may still
 * lead clients to node 0, once that is back. */
static bool sentinels_agree(void) {
    char old[20];
    int agreed = 0;
    snprintf(old, sizeof old, "%d", topo_port(scene.place->topo, 0, 0));
    for (int64_t until_ns = lb_now() + 60 * LB_S_NS; agreed < 3 && lb_now() < until_ns;) {
        agreed = 0;
        for (int node = 3; node < 6; node++) {
            const char *said = cli(node, "sentinel master mymaster | sed -n '/^port$/{n;p}'");
            agreed += *said && strcmp(said, old) != 0;
        }
        if (agreed < 3) trial_sleep_until(lb_now() + 100 * LB_MS_NS);
    }
    return agreed == 3;
}

static void primary_dies(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *client = actor_new(trial);
    struct lb_err err = {0};
    MUST_GIVE(client, actor_acquire(client, &key, trial_soon()), LB_OK);
    MUST(trial, topo_signal(scene.place->topo, 0, SIGKILL) == 0, "the primary can't be killed");
    enum lb_outcome outcome = actor_release(client);
    MUST(trial, outcome == LB_UNKNOWN || outcome == LB_BROKEN, "a dead primary said %s",
         lb_outcome_name(outcome));
    actor_close(client);
    struct trial_key next = trial_key();
    if (!acquire_somehow(trial, client, &next)) return;
    int there = atoi(cli(1, "exists %s", next.name)) + atoi(cli(2, "exists %s", next.name));
    MUST(trial, there >= 1, "the lock is not on what was a replica");
    MUST_GIVE(client, actor_release(client), LB_OK);
    MUST(trial, sentinels_agree(), "the Sentinels do not agree on a primary");
    /* The old primary comes back as one: Sentinels make it a replica, and nobody is led to it
     * meanwhile. */
    MUST(trial, topo_restart(scene.place->topo, 0, &err) == 0, "%s", err.text);
    for (int i = 0; i < 20; i++) {
        actor_close(client);
        if (!acquire_somehow(trial, client, &next)) return;
        MUST(trial,
             atoi(cli(0, "exists %s", next.name)) == 0 || strcmp(cli(0, "role"), "slave") == 0,
             "led to the old primary");
        MUST_GIVE(client, actor_release(client), LB_OK);
        trial_sleep_until(lb_now() + 50 * LB_MS_NS);
    }
}

TEST_WITH(test_primary_dies, NULL, close_scene) {
    play("redis-setnx", "redis-sentinel", NULL, primary_dies);
}

/* The primary of one group of three dies: the two others are a majority, and are asked on; then the promoted replica is
 * asked in its place, in the same session. */
static void group_fails_over(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *client = actor_new(trial);
    bool promoted = false;
    MUST_GIVE(client, actor_acquire(client, &key, trial_soon()), LB_OK);
    for (int node = 0; node < 9; node += 3)
        MUST(trial, strcmp(cli(node, "exists %s", key.name), "1") == 0,
             "the primary of node %d's group was not asked", node);
    MUST_GIVE(client, actor_release(client), LB_OK);
    MUST(trial, topo_signal(scene.place->topo, 3, SIGKILL) == 0, "the primary can't be killed");
    for (int64_t until_ns = trial_soon() + 60 * LB_S_NS; !promoted && !trial_failed(trial);) {
        MUST(trial, lb_now() < until_ns, "the promoted replica was not asked");
        MUST_GIVE(client, actor_acquire(client, &key, trial_soon()), LB_OK);
        promoted = strcmp(cli(4, "exists %s", key.name), "1") == 0 &&
                   strcmp(cli(4, "role"), "master") == 0;
        MUST_GIVE(client, actor_release(client), LB_OK);
        trial_sleep_until(lb_now() + 50 * LB_MS_NS);
    }
}

TEST_WITH(test_group_fails_over, NULL, close_scene) {
    play("unsafe-redisson-redlock", "redis-sentinel-groups", NULL, group_fails_over);
}

/* --- a primary and replicas, without sentinels --- */

/* Somebody promotes a replica by hand: a client of the old primary finds the new one, whether the
 * old one is gone or has become a replica. */
static void replica_is_promoted(struct trial *trial) {
    struct topo *topo = scene.place->topo;
    struct trial_key key = trial_key();
    struct actor *client = actor_new(trial);
    struct lb_err err = {0};
    MUST_GIVE(client, actor_acquire(client, &key, trial_soon()), LB_OK);
    MUST(trial, topo_kill(topo, 0, &err) == 0, "%s", err.text);
    MUST(trial, topo_act(topo, "promote", "1", NULL, 0, &err) == 0, "%s", err.text);
    /* By now the old connection is known to be closed, and the new primary may be asked: it has the key, or has not. */
    enum lb_outcome outcome = actor_release(client);
    MUST(trial, outcome != LB_BUSY && outcome != LB_TIMEOUT && outcome != LB_REFUSED,
         "the release gave %s", lb_outcome_name(outcome));
    actor_close(client);
    struct trial_key next = trial_key();
    if (!acquire_somehow(trial, client, &next)) return;
    MUST(trial, strcmp(cli(1, "exists %s", next.name), "1") == 0,
         "the lock is not on the new primary");
    MUST_GIVE(client, actor_release(client), LB_OK);

    MUST(trial, topo_act(topo, "promote", "2", NULL, 0, &err) == 0, "%s", err.text);
    outcome = actor_acquire(client, &next, TRIAL_TRY);
    MUST(trial, outcome == LB_BROKEN, "what is a replica now said %s", lb_outcome_name(outcome));
    actor_close(client);
    if (!acquire_somehow(trial, client, &next)) return;
    MUST(trial, strcmp(cli(2, "exists %s", next.name), "1") == 0,
         "the lock is not on the second new primary");
    MUST_GIVE(client, actor_release(client), LB_OK);
    MUST(trial, topo_restart(topo, 0, &err) == 0, "%s", err.text);
}

TEST_WITH(test_replica_is_promoted, NULL, close_scene) {
    play("redis-setnx", "redis-replicas", NULL, replica_is_promoted);
}

/* --- WAIT --- */

static void replicas_hang(struct trial *trial) {
    struct trial_key key = trial_key();
    struct actor *client = actor_new(trial), *other = actor_new(trial);
    MUST_GIVE(client, actor_acquire(client, &key, trial_soon()), LB_OK);
    MUST_GIVE(client, actor_release(client), LB_OK);
    topo_signal(scene.place->topo, 1, SIGSTOP);
    MUST_GIVE(client, actor_acquire(client, &key, trial_soon()), LB_OK); /* the other one has it */
    topo_signal(scene.place->topo, 2, SIGSTOP);
    /* The renewal is not counted, since no replica has it; but the grant is not lost either. */
    int64_t end_ns = client->grant.lease_end_ns;
    MUST_GIVE(client, actor_renew(client, 60 * LB_S_NS), LB_OK);
    MUST(trial, client->grant.lease_end_ns == end_ns, "a renewal that no replica has counts");
    MUST_GIVE(client, actor_release(client), LB_OK);
    MUST_GIVE(other, actor_acquire(other, &key, TRIAL_TRY), LB_BUSY);
    MUST_GIVE(other, actor_acquire(other, &key, lb_now() + 300 * LB_MS_NS), LB_TIMEOUT);
    MUST(trial, strcmp(cli(0, "exists %s", key.name), "0") == 0, "something is left behind");
    actor_begin_acquire(other, &key, trial_soon());
    trial_sleep_until(lb_now() + 100 * LB_MS_NS);
    MUST(trial, actor_is_busy(other), "got %s without a replica", lb_outcome_name(other->outcome));
    topo_signal(scene.place->topo, 2, SIGCONT);
    MUST_GIVE(other, actor_end(other), LB_OK);
    MUST_GIVE(other, actor_release(other), LB_OK);
    topo_signal(scene.place->topo, 1, SIGCONT);
}

TEST_WITH(test_replicas_hang, NULL, close_scene) {
    play("redis-wait", "redis-replicas", NULL, replicas_hang);
}

/* --- Redlock --- */

static void wait_for_key(struct trial *trial, int node, const struct trial_key *key) {
    int64_t until_ns = trial_soon();
    while (strcmp(cli(node, "exists %s", key->name), "1") != 0 && !trial_failed(trial)) {
        MUST(trial, lb_now() < until_ns, "server %d was not asked", node);
        trial_sleep_until(lb_now() + 10 * LB_MS_NS);
    }
}

/* The second server of five hangs; a client asks the others meanwhile. */
static void asks_in_parallel(struct trial *trial) {
    struct topo *topo = scene.place->topo;
    struct trial_key key = trial_key();
    struct actor *client = actor_new(trial), *other = actor_new(trial);
    topo_signal(topo, 1, SIGSTOP);
    actor_begin_acquire(client, &key, trial_soon());
    wait_for_key(trial, 4, &key);
    MUST(trial, actor_is_busy(client), "got %s before all have answered",
         lb_outcome_name(client->outcome));
    topo_signal(topo, 1, SIGCONT);
    MUST_GIVE(client, actor_end(client), LB_OK);
    for (int node = 0; node < 5; node++) wait_for_key(trial, node, &key);
    MUST_GIVE(other, actor_acquire(other, &key, TRIAL_TRY), LB_BUSY);
    MUST_GIVE(client, actor_renew(client, 10 * LB_S_NS), LB_OK);
    MUST_GIVE(client, actor_release(client), LB_OK);
    MUST_GIVE(other, actor_acquire(other, &key, trial_soon()), LB_OK);
    MUST_GIVE(other, actor_release(other), LB_OK);
}

TEST_WITH(test_asks_in_parallel, NULL, close_scene) {
    static const char *const sets[] = {"node_timeout=60s", NULL};
    play("redis-redlock", "redis-independents", sets, asks_in_parallel);
}

/* Two of five may be gone, dead or hanging; a third one may not. */
static void servers_fall(struct trial *trial) {
    struct topo *topo = scene.place->topo;
    struct trial_key key = trial_key();
    struct actor *client = actor_new(trial), *other = actor_new(trial);
    struct lb_err err = {0};
    MUST_GIVE(client, actor_acquire(client, &key, trial_soon()), LB_OK);
    topo_signal(topo, 0, SIGKILL);
    topo_signal(topo, 3, SIGSTOP);
    MUST_GIVE(other, actor_acquire(other, &key, TRIAL_TRY), LB_BUSY);
    MUST_GIVE(client, actor_renew(client, 10 * LB_S_NS), LB_OK);
    MUST_GIVE(client, actor_release(client), LB_OK);
    MUST_GIVE(other, actor_acquire(other, &key, trial_soon()), LB_OK);
    MUST_GIVE(client, actor_acquire(client, &key, TRIAL_TRY), LB_BUSY);
    MUST_GIVE(other, actor_release(other), LB_OK);
    topo_signal(topo, 4, SIGSTOP);
    /* With two answers the outcome is unknown; three are enough. */
    MUST_GIVE(client, actor_acquire(client, &key, TRIAL_TRY), LB_UNKNOWN);
    MUST_GIVE(client, actor_settle(client), LB_UNKNOWN);
    actor_close(client);
    MUST(trial, !actor_open(client), "a session without a majority");
    topo_signal(topo, 4, SIGCONT);
    MUST(trial, actor_open_again(client), "no session with three of five: %s", client->err.text);
    MUST_GIVE(client, actor_settle(client), LB_OK);
    MUST_GIVE(client, actor_acquire(client, &key, trial_soon()), LB_OK);
    MUST_GIVE(client, actor_release(client), LB_OK);
    /* Servers that come back are asked again. The late server had been sent the release after the
     * acquire, so it holds nothing. */
    topo_signal(topo, 3, SIGCONT);
    MUST(trial, topo_restart(topo, 0, &err) == 0, "%s", err.text);
    int64_t until_ns = trial_soon();
    for (bool all = false; !all && lb_now() < until_ns && !trial_failed(trial);) {
        MUST_GIVE(client, actor_acquire(client, &key, trial_soon()), LB_OK);
        all = true;
        for (int node = 0; node < 5; node++)
            all &= strcmp(cli(node, "exists %s", key.name), "1") == 0;
        MUST_GIVE(client, actor_release(client), LB_OK);
        trial_sleep_until(lb_now() + 50 * LB_MS_NS);
    }
    for (int node = 0; node < 5; node++)
        MUST(trial, strcmp(cli(node, "dbsize"), "0") == 0, "server %d has something left", node);
}

TEST_WITH(test_servers_fall, NULL, close_scene) {
    static const char *const sets[] = {"node_timeout=200ms", NULL};
    play("redis-redlock", "redis-independents", sets, servers_fall);
}

TEST_MAIN(NULL, NULL)
