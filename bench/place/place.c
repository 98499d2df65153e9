/* place: see place.h. */
#define _GNU_SOURCE
#include "bench/place/place.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bench/base/processors.h"
#include "bench/base/verdict.h"
#include "bench/engine/loop.h"
#include "bench/option/text.h"
#include "bench/servers/folder.h"
#include "bench/servers/janitor.h"
#include "bench/servers/spawn.h"
#include "drivers/tls.h"
#include "drivers/url.h"

#define READY_NS                                                                                   \
    (90 * LB_S_NS) /* for a server of ours to answer: a first start prepares its data */
#define REACH_NS (10 * LB_S_NS) /* for one that runs already */
#define TRY_NS (2 * LB_S_NS)    /* for the first try of one session ... */
#define TRIES_NS                                                                                   \
    (5 * LB_S_NS) /* ... and for each later one: a client's own program may be slow to start */

/* Servers that are up side by side. */
#define NODES_MOST 16
#define MEMORY_LEAST_KB (2 * 1024 * 1024)
#define PROCESSORS_LEAST 4 /* fewer are shared */

/* Asking a server through one session, on a loop of its own. */
struct inquiry {
    struct place *place;
    const struct plan_lock *lock;
    struct lb_cleaning *cleaning; /* NULL = nothing */
    const volatile sig_atomic_t *interrupts;
    int64_t deadline_ns;
    bool again;
    int result; /* as topo_answers_fn: 1 answered, 0 not yet, -1 pointless */
    struct lb_err err;
};

/* What the user states of the durability of the server, as a word of bench/base/verdict.h; NULL = nothing. */
static const char *stated_durability(const struct lb_backend *backend, const void *options) {
    char word[16] = LB_DURABILITY_TOLD;
    const struct lb_option *option = options_find(lb_backend_options(backend), LB_DURABILITY);
    if (option && options) option_text(option, options, word, sizeof word);
    return durability_name(durability_from(word));
}

/* What the server tells of its durability, or else what the user states of it. */
static int take_durability(struct place *place, struct lb_err *err) {
    const struct lb_backend *backend = place->server.backend;
    const struct lb_facts *facts = &place->facts;
    const char *stated = stated_durability(backend, place->server.options),
               *told = facts->durability_class;
    if (told && stated && strcmp(told, stated) != 0)
        return err_set(err, LB_EXIT_USAGE,
                       "%s.durability = %s, but the server tells another: %s; leave it out",
                       backend->name, stated, facts->durability);
    place->durability_class = told ? told : stated;
    char how[96] = "";
    if (!told && stated)
        snprintf(how, sizeof how, "; the user states it (durability)");
    else if (!told && options_find(lb_backend_options(backend), LB_DURABILITY))
        snprintf(how, sizeof how, "; --set %s.durability=memory|log|disk states it", backend->name);
    snprintf(place->durability, sizeof place->durability, "%s%s",
             *facts->durability ? facts->durability : "not told: nobody asked", how);
    return 0;
}

static void inquire_server(void *arg) {
    struct inquiry *inquiry = arg;
    struct lb_server *server = &inquiry->place->server;
    const struct lb_backend *backend = server->backend;
    const struct lb_lock *lock = inquiry->lock->lock;
    struct lb_session session = {.server = server,
                                 .lock = lock,
                                 .options = inquiry->lock->options,
                                 .client = 0,
                                 .lease_ns = 10 * LB_S_NS,
                                 .traffic_fd = -1};
    session.state = calloc(1, backend->connector->session_bytes + 1);
    session.lock_state = calloc(1, lock->algorithm->session_bytes + 1);
    rng_seed_unique(&session.rng);
    int failed = 0;
    if (!session.state || !session.lock_state)
        failed = err_set(&inquiry->err, LB_EXIT_MACHINE, "out of memory");
    if (!failed && backend->connector->connect)
        failed = backend->connector->connect(&session, inquiry->deadline_ns, &inquiry->err);
    if (!failed && backend->connector->ping &&
        backend->connector->ping(&session, inquiry->deadline_ns) != LB_OK) {
        failed = err_set(&inquiry->err, session.err.code, "%s", session.err.text);
    }
    if (!failed && backend->connector->describe)
        failed = backend->connector->describe(&session, &inquiry->place->facts, &inquiry->err);
    /* what the command states may be refused: before anything is removed */
    if (!failed && inquiry->cleaning) failed = take_durability(inquiry->place, &inquiry->err);
    if (!failed && inquiry->cleaning && backend->connector->clean)
        failed = backend->connector->clean(&session, inquiry->cleaning, &inquiry->err);
    if (backend->connector->disconnect) backend->connector->disconnect(&session);
    free(session.state);
    free(session.lock_state);
    /* A refusal (wrong password, bad URL) will not get better. */
    inquiry->result = !failed ? 1 : inquiry->err.code == LB_EXIT_USAGE ? -1 : 0;
}

static int shared_state(struct lb_server *server, struct lb_err *err) {
    const struct lb_backend *backend = server->backend;
    server->state = calloc(1, backend->connector->server_bytes + 1);
    if (!server->state) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    if (backend->connector->shared_bytes == 0) return 0;
    server->shared = mmap(NULL, backend->connector->shared_bytes, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (server->shared != MAP_FAILED) return 0;
    server->shared = NULL;
    return err_set(err, LB_EXIT_MACHINE, "%zu bytes of shared memory: %s",
                   backend->connector->shared_bytes, strerror(errno));
}

/* Opens the backend on the URL known now; again if it changed. */
static int open_backend(struct place *place, struct lb_err *err) {
    struct lb_server *server = &place->server;
    if (server->backend->connector->close && server->state)
        server->backend->connector->close(server);
    if (server->state) memset(server->state, 0, server->backend->connector->server_bytes);
    if (!server->state && shared_state(server, err) != 0) return -1;
    return server->backend->connector->open ? server->backend->connector->open(server, err) : 0;
}

/* Undoes open_backend, also half of it. */
static void close_backend(struct lb_server *server) {
    const struct lb_connector *connector = server->backend->connector;
    if (server->state && connector->close) connector->close(server);
    if (server->shared) munmap(server->shared, connector->shared_bytes);
    free(server->state);
}

/* Opens the backend and asks its server, as topo_answers_fn. */
static int ask_server(struct inquiry *inquiry, int64_t for_ns, struct lb_err *err) {
    if (open_backend(inquiry->place, err) != 0) return -1;
    inquiry->deadline_ns = lb_now() + for_ns;
    inquiry->err.code = 0;
    if (loop_once("inquiry", inquire_server, inquiry, err) != 0) return -1;
    if (inquiry->result != 1 && err_pass(err, &inquiry->err) == 0)
        err_set(err, LB_EXIT_MACHINE, "the server did not answer");
    return inquiry->result;
}

static int backend_answers(const struct topo *topo, void *arg, struct lb_err *err) {
    struct inquiry *inquiry = arg;
    struct place *place = inquiry->place;
    bool wired = place->wiring && *place->wiring->url, again = inquiry->again;
    place->server.url_count = 1;
    place->server.ca = topo_ca(topo);
    place->urls[0] = wired ? place->wiring->url : topo_url(topo);
    if (place_wire_check(place->wiring, err) != 0) return -1;
    inquiry->again = true;
    return ask_server(inquiry, again ? TRIES_NS : TRY_NS, err);
}

static bool is_interrupted(void *arg) {
    const struct inquiry *inquiry = arg;
    return *inquiry->interrupts > 0;
}

/* The connections that are to be led through the wire, as TOPO_WIRED_ bits. */
static unsigned wires_of(const struct place_ask *ask) {
    unsigned wires = ask->wired ? TOPO_WIRED_CLIENTS | TOPO_WIRED_PEERS : 0;
    if (ask->distance.wired) wires |= TOPO_WIRED_CLIENTS;
    return wires;
}

/* "redis+valkey-8.0.1": so are those of another program, by what they say of themselves. */
static void name_program(struct place *place) {
    const char *version = lb_facts_value(&place->facts, "version");
    size_t len = strlen(place->topology), room = sizeof place->topology - len;
    bool named = version && !(*version >= '0' && *version <= '9');
    snprintf(place->topology + len, room, "+%s%s%.40s", named ? "" : place->server.backend->name,
             named ? "" : "-", version ? version : "unknown");
    for (char *c = place->topology + len; *c; c++) {
        if (*c == ' ') *c = '-';
    }
}

/* Starts the wire before the servers; one server alone has no peers. */
static int wire_own(struct place *place, const struct place_ask *ask, const struct topo_info *info,
                    struct topo_ask *topo_ask, struct lb_err *err) {
    unsigned wires = wires_of(ask);
    if (info->nodes == 1) wires &= ~(unsigned)TOPO_WIRED_PEERS;
    if (!wires) return 0;
    place->wiring = place_wire_start(info, wires, topo_ask, err);
    if (!place->wiring) return -1;
    return place_wire_distance(place->wiring, &ask->distance, err);
}

static int wait_ready(struct topo *topo, struct inquiry *inquiry, struct lb_err *err) {
    struct topo_wait wait = {.deadline_ns = lb_now() + READY_NS,
                             .answers = inquiry->lock ? backend_answers : NULL,
                             .give_up = is_interrupted,
                             .arg = inquiry};
    return topo_ready(topo, &wait, err);
}

int place_ready(struct topo *topo, const struct plan_lock *lock,
                const volatile sig_atomic_t *interrupts, struct lb_err *err) {
    struct place place = {.urls = {NULL}};
    struct inquiry inquiry = {.place = &place, .lock = lock, .interrupts = interrupts};
    if (!lock) return wait_ready(topo, &inquiry, err);
    place.server = (struct lb_server){
        .backend = lock->lock->backend, .urls = place.urls, .options = lock->backend_options};
    int failed = wait_ready(topo, &inquiry, err);
    close_backend(&place.server);
    return failed;
}

static int start_own(struct place *place, const struct place_ask *ask, struct lb_err *err) {
    struct topo_info info;
    const char *name = ask->topology ? ask->topology : lb_topologies(ask->lock->lock)[0];
    if (topo_info(ask->topologies, name, &info, err) != 0) return -1;
    if (topo_info_flavour(&info, ask->program, ask->listen, err) != 0) return -1;
    if (ask->tls && topo_info_tls(&info, err) != 0) return -1;
    struct topo_ask topo_ask = {.info = &info, .durability = ask->durability};
    const struct topo_durability *durability = topo_durability_of(&info, ask->durability, err);
    if (!durability) return -1;
    /* servers that are set up in another way are another topology */
    snprintf(place->topology, sizeof place->topology, "%s%s", info.name, ask->tls ? "+tls" : "");
    snprintf(place->durability, sizeof place->durability, "%s", durability->text);
    place->durability_class = durability_name(durability_from(durability->class));
    topo_ask.clock = ask->clock && info.clock;
    if (wire_own(place, ask, &info, &topo_ask, err) != 0) return -1;
    place->topo = topo_start(&topo_ask, err);
    return place->topo ? 0 : -1;
}

/* Reaches the server of a URL, through a wire if that is asked for. */
static int reach_url(struct place *place, const struct place_ask *ask, struct inquiry *inquiry,
                     struct lb_err *err) {
    snprintf(place->topology, sizeof place->topology, "url");
    place->server.url_count = 1;
    if (wires_of(ask) & TOPO_WIRED_CLIENTS) {
        place->wiring = place_wire_reach(ask->url, err);
        if (!place->wiring || place_wire_distance(place->wiring, &ask->distance, err) != 0)
            return -1;
        place->server.routes = place->wiring->routes;
        place->server.route_count = place->wiring->route_count;
    }
    place->urls[0] = ask->url;
    return ask_server(inquiry, REACH_NS, err) == 1 ? take_durability(place, err) : -1;
}

/* The drivers' messages mostly name the backend already. */
static void name_backend(const struct lb_backend *backend, struct lb_err *err) {
    if (strncmp(err->text, backend->name, strlen(backend->name)) != 0)
        err_prefix(err, "%s", backend->name);
}

int place_check_url(const struct place_ask *ask, struct lb_err *err) {
    struct lb_err found = {0};
    struct place place = {.urls = {ask->url}};
    place.server = (struct lb_server){.backend = ask->lock->lock->backend,
                                      .urls = place.urls,
                                      .url_count = 1,
                                      .options = ask->lock->backend_options};
    int failed = open_backend(&place, &found);
    close_backend(&place.server);
    if (!failed || found.code != LB_EXIT_USAGE) return 0;
    name_backend(ask->lock->lock->backend, &found);
    return err_pass(err, &found);
}

bool place_tls_is_set(const struct lb_option *option, const void *options, char *value,
                      size_t size) {
    if (strncmp(option->name, "tls_", strlen("tls_")) != 0) return false;
    option_text(option, options, value, size);
    return *value && !(option->def && strcmp(value, option->def) == 0);
}

int place_check_own(const struct place_ask *ask, struct lb_err *err) {
    const struct lb_backend *backend = ask->lock->lock->backend;
    const struct lb_option *option = lb_backend_options(backend);
    char value[300];
    if (backend->topologies && stated_durability(backend, ask->lock->backend_options))
        return err_set(
            err, LB_EXIT_USAGE,
            "%s.durability is set, but there is no --url %s=%s://…: lockbench's own servers "
            "have servers.durability",
            backend->name, backend->name, backend->schemes[0]);
    for (; option && option->name && backend->topologies && !ask->tls; option++) {
        if (!place_tls_is_set(option, ask->lock->backend_options, value, sizeof value)) continue;
        return err_set(err, LB_EXIT_USAGE,
                       "%s.%s is set, but there is no --url %s=%s://…, and lockbench's own servers "
                       "are encrypted only with servers.tls=yes",
                       backend->name, option->name, backend->name, backend->schemes[0]);
    }
    return 0;
}

int place_check_faults(const struct plan *plan, const char *url, struct lb_err *err) {
    for (int i = 0; i < PLAN_FAULTS_MAX; i++) {
        const struct plan_fault *fault = &plan->faults[i];
        bool wire = fault->kind != INJECT_NONE && injections[fault->kind].on == ON_WIRES;
        if (wire && fault->target == TARGET_REPLICATION)
            return err_set(err, LB_EXIT_USAGE,
                           "%s acts on servers' connections among themselves, and they are not "
                           "lockbench's",
                           injections[fault->kind].name);
        if (wire && place_wire_check_url(url, err) != 0) return -1;
    }
    if (!plan_acts_on(plan, ON_SERVERS)) return 0;
    return err_set(err, LB_EXIT_USAGE,
                   "the fault needs control of the server, which lockbench did not start");
}

int place_check_acts(const struct plan *plan, const struct place_ask *ask, struct lb_err *err) {
    for (int i = 0; i < PLAN_FAULTS_MAX && ask->topology; i++) {
        const struct injection_traits *kind = &injections[plan->faults[i].kind];
        struct topo_info info;
        if (!(kind->properties & INJECTION_SCRIPT)) continue;
        if (topo_info(ask->topologies, ask->topology, &info, err) != 0) return -1;
        if (!topo_offers(&info, kind->name))
            return err_set(err, LB_EXIT_USAGE,
                           "%s: its fault %s can't act on %s, which does not offer it: see "
                           "servers.topology",
                           plan->name, kind->name, ask->topology);
    }
    return 0;
}

static int open_embedded(struct place *place, struct inquiry *inquiry, struct lb_err *err) {
    const struct lb_backend *backend = place->server.backend;
    snprintf(place->topology, sizeof place->topology, "embedded");
    snprintf(place->durability, sizeof place->durability, "nothing to lose: no server");
    place->durability_class = backend->durability_class;
    if (janitor_start(err) != 0) return -1;
    if (folder_make(NULL, backend->name, place->dir, sizeof place->dir, err) != 0) return -1;
    janitor_folder(JANITOR_ADD, place->dir);
    place->server.dir = place->dir;
    return ask_server(inquiry, REACH_NS, err) == 1 ? 0 : -1;
}

struct place *place_begin(const struct place_ask *ask, struct lb_err *err) {
    const struct lb_backend *backend = ask->lock->lock->backend;
    struct place *place = calloc(1, sizeof *place);
    if (!place) {
        err_set(err, LB_EXIT_MACHINE, "out of memory");
        return NULL;
    }
    place->server = (struct lb_server){
        .backend = backend, .urls = place->urls, .options = ask->lock->backend_options};
    struct inquiry inquiry = {.place = place, .lock = ask->lock, .cleaning = ask->cleaning};
    int failed;
    if (wires_of(ask) && !backend->topologies)
        failed = err_set(err, LB_EXIT_USAGE, "the lock has no server, so no wire can lead to it");
    else if (ask->url)
        failed = reach_url(place, ask, &inquiry, err);
    else if (backend->topologies)
        failed = start_own(place, ask, err);
    else
        failed = open_embedded(place, &inquiry, err);
    if (!failed) return place;
    name_backend(backend, err);
    place_close(place);
    return NULL;
}

struct place *place_finish(struct place *place, const struct place_ask *ask, struct lb_err *err) {
    struct inquiry inquiry = {.place = place, .lock = ask->lock, .interrupts = ask->interrupts};
    if (place->topo && wait_ready(place->topo, &inquiry, err) != 0) {
        name_backend(place->server.backend, err);
        place_close(place);
        return NULL;
    }
    if (place->topo && topo_about(place->topo)->other_program) name_program(place);
    lb_tls_words(&place->facts, place->encryption, sizeof place->encryption);
    return place;
}

struct place *place_open(const struct place_ask *ask, struct lb_err *err) {
    struct place *place = place_begin(ask, err);
    return place ? place_finish(place, ask, err) : NULL;
}

void place_close(struct place *place) {
    if (!place) return;
    if (!place->in_use) close_backend(&place->server);
    topo_stop(place->topo);
    place_wire_stop(place->wiring);
    if (place->dir[0]) {
        folder_remove(place->dir);
        janitor_folder(JANITOR_DROP, place->dir);
    }
    if (!place->in_use) free(place);
}

/* -1 = not known. */
static long memory_available_kb(void) {
    char line[128];
    long kb = -1;
    FILE *file = fopen("/proc/meminfo", "re");
    while (file && kb < 0 && fgets(line, sizeof line, file))
        if (sscanf(line, "MemAvailable: %ld", &kb) != 1) kb = -1;
    if (file) fclose(file);
    return kb;
}

bool place_fit_together(int nodes, struct lb_err *why) {
    long free_kb = memory_available_kb();
    if (nodes > NODES_MOST)
        err_set(why, LB_EXIT_OK, "they are %d servers, more than %d", nodes, NODES_MOST);
    else if (nodes > 0 && free_kb >= 0 && free_kb < MEMORY_LEAST_KB)
        err_set(why, LB_EXIT_OK, "less than %d GB of memory is free", MEMORY_LEAST_KB >> 20);
    return !*why->text;
}

bool place_divide_processors(bool shared, cpu_set_t *ret_clients, cpu_set_t *ret_servers) {
    struct processors seen = processors_look();
    cpu_set_t all;
    if (shared || processors_usable(&seen) < PROCESSORS_LEAST ||
        sched_getaffinity(0, sizeof all, &all) != 0)
        return false;
    processors_divide(&all, "", ret_clients, ret_servers);
    if (processors_bind(ret_clients) != 0) return false;
    spawn_on(ret_servers);
    return true;
}

bool place_needs_kind(const struct plan *plan) {
    enum lb_scenario about = lb_scenario_from(plan->name);
    return about == LB_SCENARIO_POOLED || about == LB_SCENARIO_MULTI_PRIMARY;
}

int place_check_kind(const struct place *place, const struct plan *plan, struct lb_err *err) {
    enum lb_scenario about = lb_scenario_from(plan->name);
    if (!place_needs_kind(plan) || place->facts.kind == about) return 0;
    return err_set(err, LB_EXIT_USAGE,
                   "%s needs %s, and %s is none: it would not put the lock to the test", plan->name,
                   about == LB_SCENARIO_POOLED
                       ? "a pooler that gives out sessions by transaction"
                       : "several nodes of one cluster (Galera), with mariadb.nodes=all",
                   place_is_guest(place) ? "the server at --url" : place->topology);
}

bool place_is_guest(const struct place *place) {
    return !place->topo && place->server.url_count > 0;
}

const char *place_durability_class(const struct place *place, const struct lb_lock *lock) {
    return lock->durability_class ? lock->durability_class : place->durability_class;
}

const char *place_guarantee(const struct place *place, const struct lb_lock *lock) {
    bool alone = lock->about.guarantee == LB_ON_MAJORITY && place->facts.alone;
    return lb_guarantee_name(alone ? LB_ON_ONE_NODE : lock->about.guarantee);
}

json_t *place_json(const struct place *place) {
    char url[512] = "";
    const char *started_by = place->topo ? "lockbench" : place_is_guest(place) ? "url" : "embedded";
    if (place->server.url_count > 0) url_public(place->urls[0], url, sizeof url);
    json_t *facts = json_object();
    for (int i = 0; i < place->facts.count; i++) {
        json_object_set_new(facts, place->facts.item[i].name,
                            json_string(place->facts.item[i].value));
    }
    return json_pack("{s:s, s:s, s:s, s:s, s:o, s:b, s:o}", "backend", place->server.backend->name,
                     "topology", place->topology, "durability", place->durability, "started_by",
                     started_by, "url", url[0] ? json_string(url) : json_null(), "wired",
                     place->wiring != NULL, "facts", facts);
}
