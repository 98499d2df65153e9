/* serve: see stage_hosts.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/base/home.h"
#include "bench/place/place.h"
#include "bench/servers/folder.h"
#include "bench/servers/janitor.h"
#include "bench/stage/machine.h"
#include "bench/stage/supervise.h"
#include "bench/tools/hosts/stage_hosts.h"
#include "bench/workload/stages.h"

#define NEWS_NS LB_S_NS
#define ANSWER_NS (60 * LB_S_NS) /* for the coordinator's word after everybody was to be ready */
#define LOOK_NS (200 * LB_MS_NS) /* between two looks while this host waits */

/* ---- a stage ---- */

static int report_news(struct hosts *hosts, struct lb_err *err) {
    if (lb_now() - hosts->news_ns < NEWS_NS) return 0;
    hosts->news_ns = lb_now();
    return hosts_report(hosts, &(struct message){.word = WORD_NEWS}, err);
}

/* Whether for the coordinator this stage is over: the word is for serve_run. */
static bool is_of_run(enum word word) {
    return word == WORD_PLAN || word == WORD_STAGE || word == WORD_LEAVE;
}

/* Waits for the coordinator's word to go on, and reports that this host lives. 0, or -1 with err: the coordinator ends
 * the stage, or does not answer. */
static int wait_on(struct hosts *hosts, int64_t deadline_ns, int64_t *ret_go_ns,
                   struct lb_err *err) {
    struct message message;
    while (lb_now() < deadline_ns) {
        if (report_news(hosts, err) != 0 || hosts_check_coordinator(hosts, err) != 0) return -1;
        int got = hosts_wait(hosts, &message, lb_now() + LOOK_NS, err);
        if (got < 0) return -1;
        if (got == 0) continue;
        bool over = is_of_run(message.word);
        if (over)
            hosts_keep(hosts, 0, &message);
        else
            free(message.blob);
        if (over || message.word == WORD_GIVE_UP)
            return err_set(err, LB_EXIT_MACHINE, "the coordinator (rank 0) ended the stage");
        if (message.word != WORD_ON) continue;
        *ret_go_ns = message.value[1];
        return 0;
    }
    return err_set(err, LB_EXIT_MACHINE, "the coordinator (rank 0) said nothing for too long");
}

static int meet(struct peers *peers, enum moment moment, const struct lb_err *trouble,
                int64_t deadline_ns, struct lb_err *err) {
    struct hosts *hosts = peers->state;
    hosts->loads = false;
    if (trouble) {
        if (hosts_report_trouble(hosts, trouble, err) != 0) return -1;
        return err_set(err, trouble->code, "%s", trouble->text);
    }
    struct message ready = {.word = WORD_READY, .value = {moment}};
    if (hosts_report(hosts, &ready, err) != 0) return -1;
    if (wait_on(hosts, lb_after(deadline_ns, ANSWER_NS), &peers->go_ns, err) != 0) return -1;
    hosts->loads = moment == MOMENT_PINGED;
    return 0;
}

static int look(struct peers *peers, struct lb_err *err) {
    struct hosts *hosts = peers->state;
    struct message message;
    if (report_news(hosts, err) != 0 || hosts_check_coordinator(hosts, err) != 0) return -1;
    /* A word that came before this host waits for it. */
    if (hosts->host[0].has_kept) return 0;
    int got = hosts_wait(hosts, &message, 0, err);
    if (got <= 0) return got;
    if (message.word == WORD_END)
        free(message.blob);
    else
        hosts_keep(hosts, 0, &message);
    if (message.word != WORD_END && !is_of_run(message.word)) return 0;
    hosts->loads = false;
    return err_set(err, LB_EXIT_INTERRUPTED, "the coordinator ended the stage");
}

/* Reports why, unless the coordinator ended it. */
static void end(struct peers *peers, const struct lb_err *why) {
    struct hosts *hosts = peers->state;
    struct lb_err unheard = {0}; /* the next look says that the coordinator does not listen */
    if (hosts->loads) hosts_report_trouble(hosts, why, &unheard);
    hosts->loads = false;
}

/* ---- the run ---- */

/* Ctrl-C ends the coordinator, and so the run. */
static const volatile sig_atomic_t no_interrupts;

/* A load host while it serves. */
struct served {
    struct hosts *hosts;
    struct plan *plan;
    char folder[512];    /* for the plan's file and the logs; "" = none */
    char workloads[512]; /* the folder of the shipped ones */
};

/* Reads the plan from the coordinator's text. 0, or -1 with err. */
static int read_plan(struct served *served, const struct message *message, struct lb_err *err) {
    char path[600];
    snprintf(path, sizeof path, "%s/plan.ini", served->folder);
    FILE *file = fopen(path, "we");
    bool written =
        file && fwrite(message->blob, 1, message->blob_bytes, file) == message->blob_bytes;
    if (file && fclose(file) != 0) written = false;
    if (!written)
        return err_set(
            err, LB_EXIT_MACHINE,
            "the plan can't be written to %s: %s: make room, or set TMPDIR to another folder", path,
            strerror(errno));
    struct plan_ask ask = {.workload = path, .folder = served->workloads};
    plan_free(served->plan);
    served->plan = plan_load(&ask, err);
    return served->plan ? 0 : -1;
}

/* Runs this host's part. 0, or -1 with err when it could not even begin. */
static int run_part(struct served *served, const struct asked *asked, struct lb_err *err) {
    const struct plan *plan = served->plan;
    struct peers peers = {.state = served->hosts,
                          .part = {.count = served->hosts->count,
                                   .self = served->hosts->link->self - 1,
                                   .threads = asked->threads,
                                   .processes = asked->processes},
                          .key_prefix = asked->key_prefix,
                          .key_salt = asked->key_salt,
                          .meet = meet,
                          .look = look,
                          .end = end,
                          .exchange = stage_pieces_deliver};
    struct stage_ask ask = {.of = asked->of, .peers = &peers, .interrupts = &no_interrupts};
    char hlog[700];
    ask.of.plan = plan;
    ask.of.topology = NULL; /* a pointer of the coordinator's */
    ask.of.lock = &plan->locks[asked->lock];
    struct place_ask place_ask = {
        .lock = ask.of.lock, .url = *asked->url ? asked->url : NULL, .interrupts = &no_interrupts};
    struct place *place = ask.place = place_open(&place_ask, err);
    if (!place) return -1;
    snprintf(ask.id, sizeof ask.id, "%s", asked->id);
    snprintf(hlog, sizeof hlog, "%s/stage.hlog", served->folder);
    ask.hlog_path = hlog;
    struct stage *stage = stage_run(&ask, err);
    place->in_use |= stage && stage->hung;
    stage_free(stage);
    place_close(place);
    return stage ? 0 : -1;
}

/* Says that the plan was read, and what machine this is: the coordinator knows only its own. */
static int report_read(struct served *served, struct lb_err *err) {
    json_t *environment = environment_json();
    /* The host's name stands in the result, and a hash of it differs between machines that are alike. */
    json_object_del(environment, "hostname_hash");
    char *text = environment ? json_dumps(environment, JSON_COMPACT) : NULL;
    struct message ready = {.word = WORD_READY,
                            .value = {MOMENT_PLANNED},
                            .blob = text,
                            .blob_bytes = text ? strlen(text) : 0};
    int failed = hosts_report(served->hosts, &ready, err);
    json_decref(environment);
    free(text);
    return failed;
}

/* What a load host needs before it can take a plan. 0, or -1 with err. */
static int prepare(struct served *served, struct lb_err *err) {
    if (home_path("workloads", served->workloads, sizeof served->workloads, err) != 0) return -1;
    if (janitor_start(err) != 0) return -1;
    if (folder_make(NULL, "hosts", served->folder, sizeof served->folder, err) != 0) return -1;
    janitor_folder(JANITOR_ADD, served->folder);
    return 0;
}

/* Does what a message asks; a word to a stage that is over asks nothing. 0, or -1 with err. */
static int serve_message(struct served *served, const struct message *message, struct lb_err *err) {
    if (message->word == WORD_STAGE) return run_part(served, message->blob, err);
    if (message->word != WORD_PLAN) return 0;
    if (prepare(served, err) != 0 || read_plan(served, message, err) != 0) return -1;
    return report_read(served, err);
}

int serve_run(struct hosts *hosts, struct lb_err *err) {
    struct served served = {.hosts = hosts};
    int failed = 0;
    bool left = false;
    while (!failed && !left) {
        struct message message;
        struct lb_err why = {0};
        int got = hosts_wait(hosts, &message, lb_now() + COORDINATOR_ABSENT_NS, err);
        if (got == 0) {
            hosts->host[0].lost = true;
            err_set(err, LB_EXIT_MACHINE, "the coordinator (rank 0) said nothing for %d minutes",
                    (int)(COORDINATOR_ABSENT_NS / (60 * LB_S_NS)));
        }
        if (got != 1) failed = -1;
        if (failed) break;
        left = message.word == WORD_LEAVE;
        if (serve_message(&served, &message, &why) != 0)
            failed = hosts_report_trouble(hosts, &why, err);
        free(message.blob);
    }
    plan_free(served.plan);
    if (*served.folder) {
        folder_remove(served.folder);
        janitor_folder(JANITOR_DROP, served.folder);
    }
    return failed;
}
