/* story_verbs: see story_verbs.h. */
#define _GNU_SOURCE
#include "drivers/tests/story_verbs.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>

#include "bench/base/clock.h"
#include "bench/conform/conform.h"
#include "bench/option/text.h"

#define ANY __attribute__((unused))

struct story_scene scene;

static int64_t duration(const char *text) {
    struct lb_err err = {0};
    int64_t ns = 0;
    if (text_duration(text, 0, INT64_MAX, &ns, &err) != 0) FAIL("%s", err.text);
    return ns;
}

int64_t story_long_soon(void) {
    return trial_soon() + 60 * LB_S_NS;
}

/* ---- keys and clients ---- */

static struct trial_key *key_of(const char *name) {
    for (int i = 0; i < scene.key_count; i++)
        if (strcmp(scene.key_names[i], name) == 0) return &scene.keys[i];
    FAIL("there is no key %s", name);
    return &scene.keys[0];
}

static void set_number(const char *name, const char *what, unsigned long long value) {
    char number[40], number_name[40];
    snprintf(number, sizeof number, "%llu", value);
    snprintf(number_name, sizeof number_name, "%.20s_%s", name, what);
    setenv(number_name, number, 1);
}

void story_key(const char *name, const char *text) {
    struct trial_key *key = &scene.keys[scene.key_count];
    *key = *text ? trial_key_named(text, strlen(text)) : trial_key();
    snprintf(scene.key_names[scene.key_count++], sizeof scene.key_names[0], "%s", name);
    setenv(name, key->name, 1);
    set_number(name, "NUMBER", key->number);
    set_number(name, "INDEX", key->index);
}

int story_client(const char *name) {
    int i = 0;
    while (i < scene.actor_count && strcmp(scene.names[i], name) != 0) i++;
    if (i < scene.actor_count) return i;
    snprintf(scene.names[i], sizeof scene.names[0], "%.20s", name);
    bool far = scene.trial->far && strncmp(name, "far", 3) == 0;
    scene.actors[i] = far ? actor_far(scene.trial) : actor_new(scene.trial);
    scene.has_key[i] = false;
    return scene.actor_count++;
}

/* A setting: "lease=60s" */
static void set(int which, const char *name, char *value) {
    struct actor *ours = scene.actors[which];
    uint32_t *number = strcmp(name, "held") == 0      ? &ours->request.held
                       : strcmp(name, "permits") == 0 ? &ours->request.permits
                       : strcmp(name, "bound") == 0   ? &ours->request.bound
                       : strcmp(name, "client") == 0  ? &ours->request.client
                                                      : NULL;
    scene.has_key[which] |= strncmp(name, "key", 3) == 0;
    if (number) {
        *number = (uint32_t)atoi(value);
    } else if (strcmp(name, "lease") == 0) {
        ours->request.lease_ns = duration(value);
    } else if (strcmp(name, "shared") == 0) {
        ours->request.shared = atoi(value);
    } else if (strcmp(name, "key") == 0) {
        actor_use_key(ours, key_of(value));
    } else {
        FAIL("a client has no '%s'", name);
    }
}

/* ---- calls that give an outcome ---- */

/* A client on another's session, which is its arg. */
static void guest_acquire(struct actor *ours) {
    struct actor *host = ours->arg;
    ours->outcome =
        host->session.lock->algorithm->acquire(&host->session, &ours->request, &ours->grant);
}

static void guest_release(struct actor *ours) {
    struct actor *host = ours->arg;
    ours->outcome =
        host->session.lock->algorithm->release(&host->session, &ours->request, &ours->grant);
}

static enum lb_outcome do_now(struct actor *ours, void (*job)(struct actor *ours)) {
    actor_do(ours, job);
    return ours->outcome;
}

/* Sleeps while the process stands still. Whoever lost its session meanwhile must have been told before. */
static void note_losses(void *unused ANY) {
    lb_sleep_until(lb_now() + 50 * LB_MS_NS);
    scene.told = 0;
    for (int i = 0; i < scene.actor_count; i++) scene.told += atomic_load(&scene.actors[i]->losses);
}

/* Acquires, and lets the whole process stand still, as if stopped, when so many requests are on their way. */
static enum lb_outcome acquire_away(struct actor *ours, const char *words) {
    char text[20] = "";
    unsigned requests = 0;
    if (sscanf(words, "%19s %u", text, &requests) != 2) FAIL("'%s' is no time and number", words);
    for (int tries = 0; tries < 200; tries++) { /* until it is not answered at once */
        uint64_t sent = ours->session.commands + requests;
        actor_begin_acquire(ours, &ours->key, trial_soon());
        while (ours->session.commands < sent && actor_is_busy(ours)) lb_yield();
        if (actor_is_busy(ours) || ours->outcome != LB_OK || actor_release(ours) != LB_OK) break;
    }
    if (!actor_is_busy(ours))
        FAIL("its requests are answered too fast, or: %s", ours->session.err.text);
    struct lb_fiber *sleeper = lb_start_fiber("sleeper", note_losses, NULL);
    lb_yield();
    int64_t until_ns = lb_now() + duration(text);
    while (lb_now() < until_ns) poll(NULL, 0, (int)((until_ns - lb_now()) / LB_MS_NS) + 1);
    lb_join(sleeper);
    return actor_end(ours);
}

/* Waits that end while the client prepares its request, which takes it less than a microsecond. The last ones ask only
 * once, and do not hide what one before has left. */
static void wait_in_vain(struct actor *ours) {
    for (int wait_ns = 2000; wait_ns > 0; wait_ns -= 4) {
        ours->request.deadline_ns = lb_now() + wait_ns;
        actor_job_acquire(ours);
        if (ours->outcome != LB_BUSY && ours->outcome != LB_TIMEOUT) return;
    }
    ours->outcome = LB_TIMEOUT;
}

#define OUTCOME(name, call)                                                                        \
    static enum lb_outcome name(struct actor *ours, const char *rest ANY) {                        \
        return call;                                                                               \
    }
OUTCOME(do_acquire, actor_acquire(ours, &ours->key, trial_soon()))
OUTCOME(do_try, actor_acquire(ours, &ours->key, TRIAL_TRY))
OUTCOME(do_wait, actor_acquire(ours, &ours->key, lb_now() + duration(rest)))
OUTCOME(do_release, ours->arg ? do_now(ours, guest_release) : actor_release(ours))
OUTCOME(do_wait_in_vain, do_now(ours, wait_in_vain))
OUTCOME(do_renew, actor_renew(ours, duration(rest)))
OUTCOME(do_settle, actor_settle(ours))
OUTCOME(do_ping, actor_ping(ours))
OUTCOME(do_end, actor_end(ours))

/* ---- what is known of a client, as a number ---- */

static int peer_port(const struct actor *ours) {
    struct sockaddr_in peer = {0};
    int failed =
        getpeername(ours->session.traffic_fd, (struct sockaddr *)&peer, &(socklen_t){sizeof peer});
    return failed ? -1 : ntohs(peer.sin_port);
}

static int redial(struct actor *ours) {
    actor_close(ours);
    return actor_open(ours) ? peer_port(ours) : -1;
}

#define NUMBER(name, value)                                                                        \
    static long long name(struct actor *ours) {                                                    \
        return (long long)(value);                                                                 \
    }
NUMBER(its_port, peer_port(ours))
NUMBER(its_next_port, redial(ours))
NUMBER(its_losses, atomic_load(&ours->losses))
NUMBER(its_token, ours->grant.token)
NUMBER(its_commands, ours->session.commands)
NUMBER(its_wakeups, ours->session.wakeups)
NUMBER(its_end, ours->grant.lease_end_ns)

/* ---- other calls ---- */

#define DO(name)                                                                                   \
    static void name(int which ANY, struct actor *ours ANY, char *rest ANY, char *answer ANY)

DO(do_begin) {
    ours->request.deadline_ns = !*rest                      ? trial_soon()
                                : strcmp(rest, "ever") == 0 ? LB_NEVER
                                                            : lb_now() + duration(rest);
    actor_begin(ours, ours->arg ? guest_acquire : actor_job_acquire);
}

DO(do_free) {
    actor_begin(ours, actor_job_release);
}

DO(is_waiting) {
    trial_sleep_until(lb_now() + 50 * LB_MS_NS);
    if (!actor_is_busy(ours)) FAIL("it does not wait: %s", lb_outcome_name(ours->outcome));
}

DO(set_up) {
    for (char *word = strtok(rest, " "); word; word = strtok(NULL, " ")) {
        char *value = strchr(word, '=');
        if (!value) FAIL("no '=' in '%s'", word);
        if (!value) return;
        *value++ = '\0';
        set(which, word, value);
    }
}

DO(sit_on) {
    ours->arg = scene.actors[story_client(rest)];
}

DO(break_off) {
    shutdown(ours->session.traffic_fd, *rest ? SHUT_RD : SHUT_RDWR);
}

DO(tell_error) {
    ANSWER("%s", ours->session.err.text);
}

DO(do_close) {
    actor_close(ours);
}

DO(do_open) {
    ANSWER("%s", actor_open(ours) ? "ok" : ours->err.text);
}

DO(do_arm) {
    if (actor_arm(ours) != 0) FAIL("%s", ours->err.text);
}

DO(do_disarm) {
    if (actor_disarm(ours) != 0) FAIL("%s", ours->err.text);
}

/* Acquires during a failover: a session that breaks is opened again, as the core does. A session that is open stays: it
 * may find the new primary by itself. */
DO(acquire_somehow) {
    for (int64_t until_ns = story_long_soon(); lb_now() < until_ns && !trial_failed(scene.trial);) {
        bool is_open = ours->connected || actor_open(ours);
        if (is_open && actor_acquire(ours, &ours->key, lb_now() + LB_S_NS) == LB_OK) return;
        actor_close(ours);
        trial_sleep_until(lb_now() + 100 * LB_MS_NS);
    }
    FAIL("no lock after the failover: %s", ours->session.err.text);
}

static const struct {
    const char *verb;
    enum lb_outcome (*outcome)(struct actor *ours, const char *rest);
    long long (*number)(struct actor *ours);
    void (*call)(int which, struct actor *ours, char *rest, char *answer);
} verbs[] = {
    {"acquire", .outcome = do_acquire},
    {"try", .outcome = do_try},
    {"wait", .outcome = do_wait},
    {"release", .outcome = do_release},
    {"away", .outcome = acquire_away},
    {"wait_in_vain", .outcome = do_wait_in_vain},
    {"renew", .outcome = do_renew},
    {"settle", .outcome = do_settle},
    {"ping", .outcome = do_ping},
    {"end", .outcome = do_end},
    {"at", .number = its_port},
    {"redial", .number = its_next_port},
    {"losses", .number = its_losses},
    {"token", .number = its_token},
    {"commands", .number = its_commands},
    {"wakeups", .number = its_wakeups},
    {"ends", .number = its_end},
    {"begin", .call = do_begin},
    {"free", .call = do_free},
    {"waits", .call = is_waiting},
    {"has", .call = set_up},
    {"on", .call = sit_on},
    {"breaks", .call = break_off},
    {"error", .call = tell_error},
    {"close", .call = do_close},
    {"open", .call = do_open},
    {"arm", .call = do_arm},
    {"disarm", .call = do_disarm},
    {"somehow", .call = acquire_somehow},
};

void story_call(int client, const char *verb, char *rest, char *answer) {
    struct actor *ours = scene.actors[client];
    size_t i = 0, count = sizeof verbs / sizeof *verbs;
    answer[0] = '\0';
    while (i < count && strcmp(verbs[i].verb, verb) != 0) i++;
    if (i == count) FAIL("a client can't '%s'", verb);
    if (i == count) return;
    if (!scene.has_key[client] && verbs[i].call != set_up) {
        actor_use_key(ours, &scene.keys[0]);
        scene.has_key[client] = true;
    }
    if (verbs[i].outcome) {
        ANSWER("%s", lb_outcome_name(verbs[i].outcome(ours, rest)));
        if (!scene.stated) FAIL("'%s' has no outcome that is wanted", verb);
    } else if (verbs[i].number) {
        ANSWER("%lld", verbs[i].number(ours));
    } else {
        verbs[i].call(client, ours, rest, answer);
    }
}

/* ---- other words ---- */

#define SAY(name) static void name(char *rest, char *answer ANY)

/* "kill 0", "restart 0", "stop 0", "go 0", "promote 1" */
SAY(change_server) {
    struct topo *topo = scene.trial->place->topo;
    const char *words = story_expanded(rest);
    struct lb_err err = {0};
    char verb[16];
    int node = 0, rc = -1;
    if (strcmp(words, "leader") == 0) {
        ANSWER("%d", topo_leader(topo, &err));
        return;
    }
    if (sscanf(words, "%15s %d", verb, &node) != 2)
        FAIL("'%s' is nothing for a server", words);
    else if (strcmp(verb, "kill") == 0)
        rc = topo_kill(topo, node, &err);
    else if (strcmp(verb, "restart") == 0)
        rc = topo_restart(topo, node, &err);
    else if (strcmp(verb, "promote") == 0)
        rc = topo_act(topo, "promote", strchr(words, ' ') + 1, NULL, 0, &err);
    else if (strcmp(verb, "stop") == 0)
        rc = topo_signal(topo, node, SIGSTOP);
    else if (strcmp(verb, "go") == 0)
        rc = topo_signal(topo, node, SIGCONT);
    if (rc != 0) FAIL("server %s: %s", words, err.text);
}

/* "cut after 1", "heal", "struck" */
SAY(change_wire) {
    struct wire_fault cut = {.kind = WIRE_MIDWAY, .then = WIRE_THEN_CUT};
    const char *words = story_expanded(rest);
    if (sscanf(words, "cut after %lu", &cut.bytes) == 1)
        conform_strike(scene.trial, cut);
    else if (strcmp(words, "heal") == 0)
        conform_heal(scene.trial);
    else if (strcmp(words, "struck") != 0)
        FAIL("'%s' is nothing for a wire", words);
    else
        ANSWER("%d", conform_struck(scene.trial));
}

SAY(cut_off) {
    bool now = strcmp(rest, "now") == 0;
    if (!now && strcmp(rest, "never") != 0) FAIL("'%s' is no cut-off", rest);
    atomic_store(&scene.trial->cutoff_ns, now ? lb_now() : LB_NEVER);
}

SAY(tell_told) {
    (void)rest;
    ANSWER("%d", scene.told);
}

SAY(tell_fact) {
    const char *value = lb_facts_value(&scene.trial->place->facts, rest);
    ANSWER("%s", value ? value : "");
}

SAY(tell_guarantee) {
    (void)rest;
    ANSWER("%s", place_guarantee(scene.trial->place, scene.trial->lock->lock));
}

SAY(limit_connects) {
    scene.trial->connect_ns = duration(rest);
}

SAY(limit_sessions) {
    scene.trial->session_lease_ns = duration(rest);
}

SAY(do_sleep) {
    trial_sleep_until(lb_now() + duration(rest));
}

SAY(make_key) {
    const char *text = story_cut(rest);
    story_key(rest, text);
}

SAY(define) {
    const char *value = story_cut(rest);
    setenv(rest, story_expanded(value), 1);
}

bool story_word(const char *word, char *rest, char *answer) {
    static const struct {
        const char *word;
        void (*say)(char *rest, char *answer);
    } words[] = {
        {"server", change_server},    {"wire", change_wire},
        {"cutoff", cut_off},          {"told", tell_told},
        {"fact", tell_fact},          {"guarantee", tell_guarantee},
        {"connects", limit_connects}, {"sessions", limit_sessions},
        {"sleep", do_sleep},          {"key", make_key},
        {"define", define},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(words[i].word, word) != 0) continue;
        words[i].say(rest, answer);
        return true;
    }
    return false;
}
