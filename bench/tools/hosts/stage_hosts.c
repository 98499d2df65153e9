/* stage_hosts: see stage_hosts.h. */
#include "bench/tools/hosts/stage_hosts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEWS_NS LB_S_NS
#define EXCHANGES 100            /* of one measurement, before the load and after it ... */
#define EXCHANGES_IN_LOAD 20     /* ... and while it runs */
#define START_NS (3 * LB_S_NS)   /* for hosts to start their workers, and to say so */
#define GO_NS (200 * LB_MS_NS)   /* for the word to reach all hosts before the load begins */
#define ANSWER_NS (60 * LB_S_NS) /* for the coordinator's word after everybody was to be ready */
#define LOOK_NS (200 * LB_MS_NS) /* between two looks while this host waits */

/* The URL by which load hosts reach the server: for a server that lockbench started, the address servers.listen. */
static json_t *url_json(const struct stage_ask *ask) {
    static const char here[] = "@127.0.0.1:", bare[] = "//127.0.0.1:";
    const char *url = ask->place->server.url_count > 0 ? ask->place->server.urls[0] : NULL;
    if (!url) return json_null();
    const char *at = strstr(url, here);
    if (!at) at = strstr(url, bare);
    if (!ask->place->topo || !at || !*ask->of.plan->listen) return json_string(url);
    at = strchr(at, '1');
    return json_sprintf("%.*s%s%s", (int)(at - url), url, ask->of.plan->listen,
                        at + strlen("127.0.0.1"));
}

/* The values about the stage that a load host needs besides the plan. */
static json_t *ask_json(const struct stage_ask *ask, const struct shared *shared) {
    json_t *url = url_json(ask);
    return json_pack("{s:s, s:s, s:o, s:i, s:i, s:i, s:f, s:I, s:s, s:I, s:I, s:i, s:i}", "lock",
                     ask->of.lock->lock->name, "id", ask->id, "url", url, "clients",
                     ask->of.clients, "repeat", ask->of.repeat, "readers", ask->of.readers,
                     "rate_per_s", ask->of.rate_per_s, "seed", (json_int_t)ask->seed, "key_prefix",
                     shared->key_prefix, "key_salt", (json_int_t)shared->key_salt, "lease_ns",
                     (json_int_t)ask->of.plan->lease_ns, "threads", shared->threads, "processes",
                     shared->processes);
}

/* Asks all hosts for the stage. */
static int begin(struct peers *peers, const struct stage_ask *ask, struct shared *shared,
                 struct lb_err *err) {
    struct stage_hosts *with = peers->state;
    char why[300];
    with->told = with->asked = false;
    with->interrupts = ask->interrupts;
    hosts_expect(with->hosts);
    with->news_ns = lb_now();
    hosts_measure_clocks(with->hosts, EXCHANGES);
    hosts_need_clocks(with->hosts, with->news_ns);
    if (hosts_lost(with->hosts, why, sizeof why) > 0)
        return err_set(err, LB_EXIT_MACHINE, "%s", why);
    json_t *json = ask_json(ask, shared);
    char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;
    json_decref(json);
    if (!text) return err_set(err, LB_EXIT_MACHINE, "out of memory for what hosts are asked");
    struct message message = {.word = WORD_STAGE, .blob = text, .blob_bytes = strlen(text)};
    hosts_tell_all(with->hosts, &message);
    free(text);
    with->asked = true;
    /* They begin now, after their clocks were measured. */
    shared->connect_deadline_ns += lb_now() - with->news_ns + START_NS;
    return 0;
}

/* ---- the moments ---- */

/* Measures the clocks, which also shows the hosts that the coordinator still runs. */
static void keep_talking(struct stage_hosts *with) {
    if (lb_now() - with->news_ns < COORDINATOR_TALKS_NS) return;
    with->news_ns = lb_now();
    hosts_measure_clocks(with->hosts, EXCHANGES_IN_LOAD);
}

/* Waits for one host to be ready. 0, or -1 with err, and then the host is in trouble or lost, or the run was
 * interrupted. */
static int await_host(struct stage_hosts *with, int host, enum moment moment, int64_t deadline_ns,
                      struct lb_err *err) {
    struct hosts *hosts = with->hosts;
    struct message message;
    char why[300];
    while (!hosts->host[host].lost) {
        int64_t now_ns = lb_now(), next_ns = now_ns + LOOK_NS;
        keep_talking(with);
        if (moment<MOMENT_DRAINED && * with->interrupts> 0)
            return err_set(err, LB_EXIT_INTERRUPTED, "interrupted");
        if (now_ns >= deadline_ns) {
            hosts_lose(hosts, host, "it was not ready in time");
            break;
        }
        if (hosts_hear(hosts, host, &message, next_ns < deadline_ns ? next_ns : deadline_ns) != 1)
            continue;
        free(message.blob);
        if (message.word == WORD_READY && message.value[0] == (int64_t)moment) return 0;
        /* A host whose load ended early still drains, and its figures say why. */
        if (message.word == WORD_TROUBLE && moment < MOMENT_DRAINED)
            return err_set(err, (int)message.value[0], "host %d (%s): %s", host + 1,
                           hosts->host[host].name, message.text);
    }
    hosts_lost(hosts, why, sizeof why);
    return err_set(err, LB_EXIT_MACHINE, "%s", why);
}

/* A host that is lost is not waited for, but where nothing has been measured yet it ends the stage, as does any
 * trouble. */
static int meet_as_coordinator(struct peers *peers, enum moment moment,
                               const struct lb_err *trouble, int64_t deadline_ns,
                               struct lb_err *err) {
    struct stage_hosts *with = peers->state;
    struct hosts *hosts = with->hosts;
    (void)trouble;
    if (!with->asked) return 0;
    bool begun = moment >= MOMENT_DRAINED;
    int failed = 0;
    for (int i = 0; i < hosts->count; i++) {
        struct lb_err why = {0};
        if (await_host(with, i, moment, deadline_ns, &why) == 0 || begun) continue;
        failed = err_set(err, why.code, "%s", why.text);
    }
    /* The hosts wait for a word, and answer at once. The whole load lies between this measurement and the one before
     * it. */
    if (moment == MOMENT_DRAINED) {
        int64_t begin_ns = lb_now();
        hosts_measure_clocks(hosts, EXCHANGES);
        hosts_need_clocks(hosts, begin_ns);
    }
    struct message on = {.word = failed ? WORD_GIVE_UP : WORD_ON, .value = {moment}};
    hosts_tell_all(hosts, &on);
    return failed;
}

static int report_ready(struct stage_hosts *with, enum moment moment, struct lb_err *err) {
    return hosts_report(with->hosts, &(struct message){.word = WORD_READY, .value = {moment}}, err);
}

static int report_news(struct stage_hosts *with, const struct shared *shared, struct lb_err *err) {
    int64_t now_ns = lb_now();
    struct message news = {.word = WORD_NEWS, .value = {shared ? 0 : -1}};
    if (now_ns - with->news_ns < NEWS_NS) return 0;
    with->news_ns = now_ns;
    for (int i = 0; shared && i < shared->threads; i++)
        news.value[0] += (int64_t)atomic_load(&shared->worker[i].outcomes[LB_OK]);
    return hosts_report(with->hosts, &news, err);
}

/* Whether for the coordinator this stage is over: the word is for serve_run. */
static bool is_of_run(enum word word) {
    return word == WORD_PLAN || word == WORD_STAGE || word == WORD_LEAVE;
}

/* Waits for one of the coordinator's words, and reports that this host lives. 0, or -1 with err: the coordinator ends
 * the stage, or does not answer. */
static int wait_for(struct stage_hosts *with, enum word word, int64_t deadline_ns,
                    int64_t *ret_value, struct lb_err *err) {
    struct message message;
    while (lb_now() < deadline_ns) {
        if (report_news(with, NULL, err) != 0 || hosts_check_coordinator(with->hosts, err) != 0)
            return -1;
        int got = hosts_wait(with->hosts, &message, lb_now() + LOOK_NS, err);
        if (got < 0) return -1;
        if (got == 0) continue;
        bool over = is_of_run(message.word);
        if (over)
            hosts_put_back(with->hosts, &message);
        else
            free(message.blob);
        if (over || message.word == WORD_GIVE_UP)
            return err_set(err, LB_EXIT_MACHINE, "the coordinator (rank 0) ended the stage");
        if (message.word != word) continue;
        *ret_value = message.value[0];
        return 0;
    }
    return err_set(err, LB_EXIT_MACHINE, "the coordinator (rank 0) said nothing for too long");
}

static int meet_as_host(struct peers *peers, enum moment moment, const struct lb_err *trouble,
                        int64_t deadline_ns, struct lb_err *err) {
    struct stage_hosts *with = peers->state;
    int64_t reached;
    with->loads = false;
    if (trouble) {
        if (hosts_report_trouble(with->hosts, trouble, err) != 0) return -1;
        return err_set(err, trouble->code, "%s", trouble->text);
    }
    if (report_ready(with, moment, err) != 0) return -1;
    return wait_for(with, WORD_ON, lb_after(deadline_ns, ANSWER_NS), &reached, err);
}

static int go_as_host(struct peers *peers, int64_t *ret_go_ns, struct lb_err *err) {
    struct stage_hosts *with = peers->state;
    if (wait_for(with, WORD_GO, lb_now() + ANSWER_NS, ret_go_ns, err) != 0) return -1;
    with->loads = true;
    return 0;
}

/* The coordinator chooses when the load begins. */
static int go_as_coordinator(struct peers *peers, int64_t *ret_go_ns, struct lb_err *err) {
    struct stage_hosts *with = peers->state;
    struct message go = {.word = WORD_GO};
    int64_t go_ns = lb_now() + GO_NS;
    (void)err;
    for (int i = 0; i < with->hosts->count; i++) {
        go.value[0] = go_ns + clock_at(&with->hosts->host[i].clock, go_ns).offset_ns;
        hosts_tell(with->hosts, i, &go);
    }
    *ret_go_ns = go_ns;
    with->news_ns = go_ns;
    return 0;
}

/* ---- while the load runs ---- */

/* Says once that a host is in trouble; measures the clocks every 10 s. */
static int look_as_coordinator(struct peers *peers, const struct shared *shared,
                               struct lb_err *err) {
    struct stage_hosts *with = peers->state;
    struct hosts *hosts = with->hosts;
    int failed = 0;
    (void)shared;
    for (int i = 0; i < hosts->count; i++) {
        struct message message;
        if (hosts_hear(hosts, i, &message, 0) != 1) continue;
        if (message.word != WORD_TROUBLE) {
            hosts_keep(hosts, i, &message);
            continue;
        }
        failed = err_set(err, (int)message.value[0], "host %d (%s): %s", i + 1, hosts->host[i].name,
                         message.text);
        free(message.blob);
    }
    char why[300];
    if (!with->told && hosts_lost(hosts, why, sizeof why) > 0) {
        with->told = true;
        failed = err_set(err, LB_EXIT_MACHINE, "%s", why);
    }
    keep_talking(with);
    return failed;
}

/* Reports the grants each second. */
static int look_as_host(struct peers *peers, const struct shared *shared, struct lb_err *err) {
    struct stage_hosts *with = peers->state;
    struct message message;
    if (report_news(with, shared, err) != 0 || hosts_check_coordinator(with->hosts, err) != 0)
        return -1;
    /* A word that came before this host waits for it. */
    if (with->hosts->has_kept) return 0;
    int got = hosts_wait(with->hosts, &message, 0, err);
    if (got <= 0) return got;
    if (message.word == WORD_END)
        free(message.blob);
    else
        hosts_put_back(with->hosts, &message);
    if (message.word != WORD_END && !is_of_run(message.word)) return 0;
    with->loads = false;
    return err_set(err, LB_EXIT_INTERRUPTED, "the coordinator ended the stage");
}

static void end_as_coordinator(struct peers *peers, const struct lb_err *why) {
    struct stage_hosts *with = peers->state;
    (void)why;
    hosts_tell_all(with->hosts, &(struct message){.word = WORD_END});
}

/* Reports why, unless the coordinator ended it. */
static void end_as_host(struct peers *peers, const struct lb_err *why) {
    struct stage_hosts *with = peers->state;
    struct lb_err unheard = {0}; /* the next look says that the coordinator does not listen */
    if (with->loads) hosts_report_trouble(with->hosts, why, &unheard);
    with->loads = false;
}

void stage_hosts_join(struct stage_hosts *with, struct hosts *hosts) {
    static const struct peers coordinator = {.part = {.self = PART_NONE},
                                             .begin = begin,
                                             .meet = meet_as_coordinator,
                                             .go = go_as_coordinator,
                                             .look = look_as_coordinator,
                                             .end = end_as_coordinator,
                                             .exchange = stage_pieces_gather};
    static const struct peers load_host = {.meet = meet_as_host,
                                           .go = go_as_host,
                                           .look = look_as_host,
                                           .end = end_as_host,
                                           .exchange = stage_pieces_deliver};
    bool coordinates = hosts_coordinates(hosts);
    *with = (struct stage_hosts){.peers = coordinates ? coordinator : load_host, .hosts = hosts};
    with->peers.state = with;
    with->peers.part.count = hosts->count;
    if (coordinates)
        coordinate_join(with);
    else
        with->peers.part.self = hosts_self(hosts);
}
