/* The ZooKeeper locks among themselves on a real server: the waiters that a release wakes, order,
 * bounds, several clients on one session, a session that is over, and residue.
 * Needs: servers. */
#include "drivers/tests/live_help.h"
#include "drivers/tests/zk_stranger.h"

#include "drivers/zookeeper/mutex.h"

#define SOON (20 * LB_S_NS) /* waits that ought to end do so by then */
#define CROWD 6

static struct live_place zk;

static void comes(struct live_client *client, const char *lock, const char *key) {
    live_come(client, live_other(&zk, lock), key);
}

/* A client on another's session: it has a request and a grant of its own. */
struct guest {
    struct live_client *host;
    struct lb_request request;
    struct lb_grant grant;
    uint32_t number;
    int *inside, *most, *order, *turn;
    int company; /* stays until so many have been inside together */
    enum lb_outcome acquired, released;
};

static void guest_init(struct guest *guest, struct live_client *host, uint32_t number) {
    *guest = (struct guest){.host = host, .request = host->request, .number = number};
    guest->request.client = number;
    guest->request.deadline_ns = lb_now() + SOON;
    guest->grant.data = calloc(1, host->session.lock->algorithm->grant_bytes);
}

static void guest_runs(void *arg) {
    struct guest *guest = arg;
    struct lb_session *session = &guest->host->session;
    guest->acquired = session->lock->algorithm->acquire(session, &guest->request, &guest->grant);
    if (guest->acquired != LB_OK) return;
    if (guest->order) guest->order[(*guest->turn)++] = (int)guest->number;
    if (++*guest->inside > *guest->most) *guest->most = *guest->inside;
    int64_t until_ns = lb_now() + SOON;
    do lb_sleep_until(lb_now() + 3 * LB_MS_NS);
    while (*guest->most < guest->company && lb_now() < until_ns);
    --*guest->inside;
    guest->released = session->lock->algorithm->release(session, &guest->request, &guest->grant);
}

/* Several clients at once on the sessions of some hosts. The most that were inside together. */
static int crowd(struct live_client *hosts, int host_count, int company, int *order) {
    struct guest guests[CROWD];
    struct lb_fiber *fibers[CROWD];
    int inside = 0, most = 0, turn = 0;
    for (int i = 0; i < CROWD; i++) {
        guest_init(&guests[i], &hosts[i % host_count], (uint32_t)i);
        guests[i].inside = &inside;
        guests[i].most = &most;
        guests[i].order = order;
        guests[i].turn = &turn;
        guests[i].company = company;
        fibers[i] = lb_start_fiber("guest", guest_runs, &guests[i]);
    }
    for (int i = 0; i < CROWD; i++) {
        lb_join(fibers[i]);
        CHECK(guests[i].acquired == LB_OK && guests[i].released == LB_OK, "client %d: %s, %s: %s",
              i, lb_outcome_name(guests[i].acquired), lb_outcome_name(guests[i].released),
              guests[i].host->session.err.text);
        free(guests[i].grant.data);
    }
    return most;
}

/* All clients of a program on one handle, as programs do it: they exclude each other, and come in
 * the order in which their nodes were made where the lock is fair. */
LIVE(&zk, one_session_for_all) {
    static const char *const locks[] = {"zk-lock",  "zk-reentrant", "zk-rwlock",
                                        "zk-multi", "zk-recipe",    "zk-herd"};
    for (size_t i = 0; i < sizeof locks / sizeof *locks; i++) {
        struct live_client host;
        int order[CROWD] = {0};
        comes(&host, locks[i], locks[i]);
        for (int round = 0; round < 3; round++) {
            int most = crowd(&host, 1, 1, order);
            CHECK(most == 1, "%s: %d on one session were in at once", locks[i], most);
            bool fair = host.session.lock->caps & LB_CAP_FAIR;
            /* The first client that finds no parent node has to make it, and may be overtaken
             * meanwhile. */
            for (int k = 0; fair && round > 0 && k < CROWD; k++)
                CHECK(order[k] == k, "%s: client %d came in at place %d", locks[i], order[k], k);
        }
        live_client_done(&host);
    }
}

LIVE(&zk, readers_share_a_session) {
    struct live_client host;
    comes(&host, "zk-rwlock", "shared-read");
    host.request.shared = true;
    int most = crowd(&host, 1, CROWD, NULL);
    CHECK(most == CROWD, "only %d of %d readers were in together", most, CROWD);
    live_client_done(&host);
}

/* A semaphore's bound holds among the clients of several sessions, and is used up. */
LIVE(&zk, a_bound_is_kept_and_used) {
    struct live_client hosts[2];
    for (int i = 0; i < 2; i++) {
        comes(&hosts[i], "zk-semaphore", "bound");
        hosts[i].request.bound = 2;
        hosts[i].request.permits = 1;
    }
    for (int round = 0; round < 3; round++) {
        int most = crowd(hosts, 2, 2, NULL);
        CHECK(most == 2, "%d permits of 2 were out at once", most);
    }
    hosts[0].request.permits = 3;
    CHECK(live_acquire(&hosts[0], SOON) == LB_REFUSED, "three of two");
    live_client_done(&hosts[0]);
    live_client_done(&hosts[1]);
}

/* Waits until the client has its watch, or has ended its wait. */
static void wait_for_watch(const struct live_waiter *waiter) {
    const struct zk_session *z = zk_session_of(&waiter->client.session);
    for (int64_t until_ns = lb_now() + SOON; waiter->outcome == LB_OUTCOMES &&
                                             (!z->idlers || !z->idlers->fiber) &&
                                             lb_now() < until_ns;)
        lb_sleep_until(lb_now() + LB_MS_NS);
}

/* How many wake-ups one release costs while `CROWD` wait, and that each waiter has its watch. */
static uint64_t wakeups_of_a_release(const char *lock) {
    struct live_client holder;
    struct live_waiter waiters[CROWD];
    uint64_t before = 0, after = 0;
    comes(&holder, lock, lock);
    CHECK(live_acquire(&holder, SOON) == LB_OK, "%s", holder.session.err.text);
    for (int i = 0; i < CROWD; i++) {
        comes(&waiters[i].client, lock, lock);
        live_waiter_begin(&waiters[i]);
        wait_for_watch(&waiters[i]);
        before += waiters[i].client.session.wakeups;
    }
    CHECK(live_release(&holder) == LB_OK, "%s", holder.session.err.text);
    int in = 0;
    for (int64_t until_ns = lb_now() + SOON; in == 0 && lb_now() < until_ns;) {
        lb_sleep_until(lb_now() + LB_MS_NS);
        for (int i = 0; i < CROWD; i++) in += waiters[i].outcome == LB_OK;
    }
    /* When every watch is set again, all effects of this release have happened. */
    for (int i = 0; i < CROWD; i++) wait_for_watch(&waiters[i]);
    lb_sleep_until(lb_now() + 100 * LB_MS_NS); /* a late one would be one too many */
    for (int i = 0; i < CROWD; i++) after += waiters[i].client.session.wakeups;
    for (int done = 0; done < CROWD;) {
        for (int i = 0; i < CROWD; i++) {
            if (waiters[i].outcome != LB_OK) continue;
            CHECK(live_release(&waiters[i].client) == LB_OK, "%s",
                  waiters[i].client.session.err.text);
            waiters[i].outcome = LB_LOST; /* has been */
            done++;
        }
        lb_sleep_until(lb_now() + LB_MS_NS);
        if (check_failed[0]) break;
    }
    for (int i = 0; i < CROWD; i++) {
        lb_join(waiters[i].fiber);
        live_client_done(&waiters[i].client);
    }
    live_client_done(&holder);
    return after - before;
}

LIVE(&zk, who_is_woken) {
    CHECK(wakeups_of_a_release("zk-lock") == 1, "a queue wakes one");
    CHECK(wakeups_of_a_release("zk-recipe") == 1, "a queue wakes one");
    CHECK(wakeups_of_a_release("zk-herd") == CROWD, "a herd wakes all");
}

static struct lb_session *told;
static int told_count;

static void note_loss(struct lb_session *session) {
    told = session;
    told_count++;
}

/* Ends a session from elsewhere, as an expiry does: takes it up again and closes it. */
static void end_session_of(const struct live_client *client) {
    struct stranger thief;
    clientid_t id = *zoo_client_id(zk_session_of(&client->session)->handle);
    stranger_comes(&zk, &thief, &id);
    stranger_goes(&thief);
}

/* The holder is told without asking, and only once; after that it holds nothing. */
LIVE(&zk, a_holder_hears_of_its_loss) {
    static const char *const locks[] = {"zk-lock",  "zk-rwlock", "zk-semaphore",
                                        "zk-multi", "zk-recipe", "zk-herd"};
    for (size_t i = 0; i < sizeof locks / sizeof *locks; i++) {
        struct live_client holder, next;
        char key[40];
        snprintf(key, sizeof key, "loss-%s", locks[i]);
        comes(&holder, locks[i], key);
        comes(&next, locks[i], key);
        holder.session.on_lost = note_loss;
        told = NULL;
        told_count = 0;
        CHECK(live_acquire(&holder, SOON) == LB_OK, "%s", holder.session.err.text);
        uint64_t token = holder.grant.token;
        end_session_of(&holder);
        for (int64_t until_ns = lb_now() + SOON; !told && lb_now() < until_ns;)
            lb_sleep_until(lb_now() + LB_MS_NS);
        CHECK(told == &holder.session, "%s: nobody told the holder", locks[i]);
        CHECK(live_acquire(&next, SOON) == LB_OK, "%s", next.session.err.text);
        CHECK(next.grant.token >= token, "%s: tokens grow over a loss", locks[i]);
        CHECK(live_release(&holder) == LB_LOST, "%s: a release of what was lost", locks[i]);
        CHECK(live_release(&next) == LB_OK, "%s", next.session.err.text);
        CHECK(told_count == 1, "%s: told %d times", locks[i], told_count);
        live_client_done(&holder);
        live_client_done(&next);
    }
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

static uint64_t left(struct live_client *looker, const char *prefix, const char *example) {
    struct lb_residue residue = {0};
    struct lb_err err = {0};
    CHECK(looker->session.lock->algorithm->residue(&looker->session, prefix, &residue, &err) == 0,
          "%s", err.text);
    if (residue.count)
        CHECK(strstr(residue.example, example), "'%s' has no '%s'", residue.example, example);
    return residue.count;
}

/* What is left is found on the server, below the prefix only, and is gone with its session. */
LIVE(&zk, what_is_left_is_found) {
    static const char *const locks[] = {"zk-lock",  "zk-rwlock", "zk-semaphore",
                                        "zk-multi", "zk-recipe", "zk-herd"};
    for (size_t i = 0; i < sizeof locks / sizeof *locks; i++) {
        struct live_client holder, looker;
        struct live_waiter waiter = {.outcome = LB_OUTCOMES};
        char key[40];
        snprintf(key, sizeof key, "left %s/7", locks[i]); /* what is escaped in a path */
        comes(&holder, locks[i], key);
        comes(&waiter.client, locks[i], key);
        comes(&looker, locks[i], "looker");
        CHECK(left(&looker, "left ", "") == 0);
        CHECK(live_acquire(&holder, SOON) == LB_OK, "%s", holder.session.err.text);
        CHECK(left(&looker, "left ", "znode /lockbench/left%20") == 1, "%s", locks[i]);
        CHECK(left(&looker, "leftover", "") == 0, "what has another beginning");
        CHECK(left(&looker, "", "znode /lockbench/") >= 1, "any");
        /* A waiter has a node, or two, or none; and a watch, which the server does not tell of if
         * it is one on children. */
        live_waiter_begin(&waiter);
        wait_for_watch(&waiter);
        bool herd = strcmp(locks[i], "zk-herd") == 0;
        uint64_t count = left(&looker, "left ", " /lockbench/left%20");
        CHECK(count == (herd ? 2U : 3U), "%s: %d", locks[i], (int)count);
        CHECK(live_release(&holder) == LB_OK, "%s", holder.session.err.text);
        lb_join(waiter.fiber);
        CHECK(waiter.outcome == LB_OK, "%s: %s", locks[i], lb_outcome_name(waiter.outcome));
        live_hang_up(&waiter.client); /* without a release */
        live_client_done(&waiter.client);
        live_client_done(&holder);
        CHECK(left(&looker, "left ", "") == 0, "%s: what a session leaves", locks[i]);
        live_client_done(&looker);
    }
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

LIVE_MAIN(zk, NULL, "zk-lock", "zookeeper.command_timeout=3s", NULL)
