/* nats-kv: a key of a JetStream key-value bucket, as NATS's clients do it by hand: kv.Create()
 * takes the lock, kv.Update() renews it, a watch of the key wakes the waiters, a delete marker
 * frees it. Each write states the last sequence of the key that the client has seen, and the server
 * refuses the write if another client wrote since. The delete states it too; the clients' own
 * kv.Delete() does not, so that it would free the lock of any client. 2 + 1 round trips: one reads
 * the key (nothing, or a delete marker), one writes after it; 1 to free. The token is the entry's
 * sequence in the bucket's stream, which grows with each write.
 *
 * A lease is the bucket's MaxAge: one for all its keys, since entries have no time-to-live of their
 * own before NATS 2.11. So each lease that a plan asks for has a bucket of its own, named by it:
 * the same key in two of them is two locks. NATS does not report entries that have aged out, so
 * waiters look every `poll`. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/clean.h"
#include "drivers/key_names.h"
#include "drivers/nats/nats.h"
#include "drivers/wait.h"

#define WRONG_SEQUENCE 10071
#define OTHER_CONFIGURATION 10058
#define CLUSTER_REPLICAS 3
/* A read of a new bucket that was not answered is sent again after this time. */
#define READ_AGAIN_NS (500 * LB_MS_NS)
/* The pause before a further look at a replica that is behind. */
#define SETTLE_AGAIN_NS (20 * LB_MS_NS)

struct kv_options {
    const char *bucket;
    int64_t poll_ns, storage, replicas;
};

struct kv_session {
    char bucket[64];
    int64_t max_age_ns;
    char consumer[160]; /* the subject that drops the watch's consumer; "" = there is none */
};

struct kv_grant {
    /* the entry's value, so that an outcome in doubt can be settled; "" = nothing was sent */
    char owner[17];
    uint64_t expected; /* the sequence that the last write expected */
    uint64_t sequence; /* the sequence of our entry; 0 = none */
};

static struct kv_session *kv_of(struct lb_session *session) {
    return session->lock_state;
}

/* True if NATS's clients accept the key: -/_=. letters and digits, no dot at an end nor two in a
 * row. */
static bool key_fits(const struct lb_request *request) {
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-/_=.";
    return request->key_len > 0 && strspn(request->key, letters) == request->key_len &&
           request->key[0] != '.' && request->key[request->key_len - 1] != '.' &&
           !strstr(request->key, "..");
}

static enum lb_outcome fail_by_answer(struct lb_session *session, struct nats_message *answer,
                                      const char *what) {
    const char *why;
    int error = nats_error(answer, &why);
    return lb_fail(session, LB_BROKEN, "nats: %s: %s (%d)", what, why,
                   error ? error : answer->status);
}

/* Reads the key's last sequence, 0 if it has none, and whether that is an entry. The entry's
 * value lies in the session's text. */
static enum lb_outcome read_entry(struct lb_session *session, const char *key,
                                  uint64_t *ret_sequence, bool *ret_held) {
    const char *bucket = kv_of(session)->bucket;
    char subject[NATS_SUBJECT_MAX];
    struct nats_message answer;
    snprintf(subject, sizeof subject, "$JS.API.DIRECT.GET.KV_%s.$KV.%s.%s", bucket, bucket, key);
    enum lb_outcome outcome = nats_request(session, subject, NULL, "", &answer);
    if (outcome != LB_OK) return outcome;
    if (answer.status != 404 && answer.sequence == 0)
        return fail_by_answer(session, &answer, "get");
    *ret_sequence = answer.sequence;
    *ret_held = answer.status != 404 && !answer.deleted;
    return LB_OK;
}

/* Writes the key if its last sequence is still expected: a value, or with value NULL a delete
 * marker. LB_OK; LB_BUSY: another client wrote since; LB_UNKNOWN; LB_BROKEN: refused, not
 * written. */
static enum lb_outcome write_entry(struct lb_session *session, const char *key, const char *value,
                                   uint64_t expected, uint64_t *ret_sequence) {
    char subject[NATS_SUBJECT_MAX], headers[100];
    struct nats_message answer;
    const char *why;
    snprintf(subject, sizeof subject, "$KV.%s.%s", kv_of(session)->bucket, key);
    snprintf(headers, sizeof headers, "%sNats-Expected-Last-Subject-Sequence: %llu\r\n",
             value ? "" : "KV-Operation: DEL\r\n", (unsigned long long)expected);
    enum lb_outcome outcome = nats_request(session, subject, headers, value ? value : "", &answer);
    if (outcome != LB_OK) return outcome;
    const char *sequence = strstr(answer.data, "\"seq\":");
    int error = nats_error(&answer, &why);
    if (error == WRONG_SEQUENCE) return LB_BUSY;
    if (error) return lb_fail(session, LB_BROKEN, "nats: write: %s (%d)", why, error);
    if (!sequence) return lb_fail(session, LB_UNKNOWN, "nats: the server's answer cannot be read");
    *ret_sequence = strtoull(sequence + strlen("\"seq\":"), NULL, 10);
    return LB_OK;
}

/* Writes our entry on top of the sequence that we read. LB_OK: the entry is ours; LB_BUSY:
 * another client was faster. */
static enum lb_outcome try_entry(struct lb_session *session, const struct lb_request *request,
                                 uint64_t expected, struct lb_grant *grant) {
    struct kv_grant *mine = grant->data;
    int64_t sent_ns = lb_now();
    mine->expected = expected;
    enum lb_outcome outcome =
        write_entry(session, request->key, mine->owner, expected, &mine->sequence);
    if (outcome != LB_OK) return outcome;
    return lb_granted(grant, mine->sequence, sent_ns + kv_of(session)->max_age_ns);
}

/* Asks the server to deliver the key's entries and delete markers, beginning with those that
 * exist. */
static enum lb_outcome watch_key(struct lb_session *session, const char *key) {
    struct kv_session *kv = kv_of(session);
    char subject[NATS_SUBJECT_MAX], deliver[48], body[LB_KEY_MAX + 512];
    struct nats_message answer;
    kv->consumer[0] = '\0';
    enum lb_outcome outcome = nats_watch_start(session, deliver);
    if (outcome != LB_OK) return LB_BROKEN;
    snprintf(subject, sizeof subject, "$JS.API.CONSUMER.CREATE.KV_%s", kv->bucket);
    snprintf(
        body, sizeof body,
        "{\"stream_name\":\"KV_%s\",\"config\":{\"deliver_subject\":\"%s\",\"filter_subject\":\"$KV.%s.%s\","
        "\"deliver_policy\":\"last_per_subject\",\"ack_policy\":\"none\",\"max_deliver\":1,"
        "\"replay_policy\":\"instant\",\"headers_only\":true,\"mem_storage\":true,\"num_replicas\":1,"
        "\"inactive_threshold\":5000000000}}",
        kv->bucket, deliver, kv->bucket, key);
    outcome = nats_request(session, subject, NULL, body, &answer);
    if (outcome != LB_OK) return LB_BROKEN; /* nothing is held, and the consumer ends by itself */
    const char *name = strstr(answer.data, "\"name\":\"");
    if (!name || strstr(answer.data, "\"error\":"))
        return fail_by_answer(session, &answer, "watch");
    name += strlen("\"name\":\"");
    snprintf(kv->consumer, sizeof kv->consumer, "$JS.API.CONSUMER.DELETE.KV_%s.%.*s", kv->bucket,
             (int)strcspn(name, "\""), name);
    return LB_OK;
}

static enum lb_outcome wait_and_take(struct lb_session *session, const struct lb_request *request,
                                     struct lb_grant *grant) {
    const struct kv_options *options = session->options;
    struct nats_session *nats = nats_session_of(session);
    for (;;) {
        uint64_t sequence = 0;
        bool held = true;
        int64_t look_ns = lb_after(lb_now(), options->poll_ns);
        if (request->deadline_ns < look_ns) look_ns = request->deadline_ns;
        enum lb_outcome outcome = nats_watch_wait(session, look_ns);
        session->wakeups++;
        if (outcome == LB_OK) {
            nats->watch.news = false;
            sequence = nats->watch.sequence;
            held = nats->watch.held;
        } else if (outcome != LB_TIMEOUT) {
            return LB_BROKEN; /* there is no entry of ours */
        } else if (lb_stopping() || lb_now() >= request->deadline_ns) {
            return LB_TIMEOUT;
        } else {
            outcome = read_entry(session, request->key, &sequence, &held);
            if (outcome != LB_OK) return LB_BROKEN;
        }
        if (held) continue;
        outcome = try_entry(session, request, sequence, grant);
        if (outcome != LB_BUSY) return outcome;
    }
}

static enum lb_outcome kv_acquire(struct lb_session *session, const struct lb_request *request,
                                  struct lb_grant *grant) {
    struct kv_grant *mine = grant->data;
    bool once = request->deadline_ns <= lb_now(), held = true;
    uint64_t sequence = 0;
    *mine = (struct kv_grant){0};
    if (!key_fits(request))
        return lb_fail(session, LB_REFUSED,
                       "nats: a key has letters, digits and -/_=. and no empty part");
    enum lb_outcome outcome = read_entry(session, request->key, &sequence, &held);
    /* this request only reads */
    if (outcome != LB_OK) return outcome == LB_UNKNOWN ? LB_BROKEN : outcome;
    snprintf(mine->owner, sizeof mine->owner, "%016llx",
             (unsigned long long)rng_u64(&session->rng));
    if (!held) outcome = try_entry(session, request, sequence, grant);
    if (!held && outcome != LB_BUSY) return outcome;
    if (once) return LB_BUSY;
    outcome = watch_key(session, request->key);
    if (outcome == LB_OK) outcome = wait_and_take(session, request, grant);
    nats_watch_stop(session, kv_of(session)->consumer);
    return outcome;
}

static enum lb_outcome kv_release(struct lb_session *session, const struct lb_request *request,
                                  struct lb_grant *grant) {
    struct kv_grant *mine = grant->data;
    uint64_t ignored;
    if (mine->sequence == 0) return lb_fail(session, LB_LOST, "nats: it was not held");
    enum lb_outcome outcome = write_entry(session, request->key, NULL, mine->sequence, &ignored);
    if (outcome == LB_BUSY)
        return lb_fail(session, LB_LOST, "nats: the entry was gone before its release");
    if (outcome == LB_OK) mine->sequence = 0;
    return outcome;
}

static enum lb_outcome kv_renew(struct lb_session *session, const struct lb_request *request,
                                struct lb_grant *grant) {
    struct kv_grant *mine = grant->data;
    int64_t sent_ns = lb_now();
    if (mine->sequence == 0) return lb_fail(session, LB_LOST, "nats: it was not held");
    /* The release needs the new sequence of this write. The token stays that of the grant. */
    enum lb_outcome outcome =
        write_entry(session, request->key, mine->owner, mine->sequence, &mine->sequence);
    if (outcome == LB_BUSY)
        return lb_fail(session, LB_LOST, "nats: the entry was gone before its renewal");
    if (outcome == LB_OK) grant->lease_end_ns = sent_ns + kv_of(session)->max_age_ns;
    return outcome;
}

/* Settles an entry in doubt. If the entry is ours, it is deleted. If there is none, our write
 * may still be on its way: a delete marker takes its place, so that the sequence which our write
 * expects is not the last one any more. In a cluster any replica answers a read, also one that is
 * behind: only a sequence above the expected one shows that our write is over or comes too late. */
static enum lb_outcome kv_settle(struct lb_session *session, const struct lb_request *request,
                                 struct lb_grant *grant) {
    struct kv_grant *mine = grant->data;
    if (!mine->owner[0]) return LB_OK;
    for (int tries = 0; tries < 10; tries++) {
        uint64_t sequence = 0, ignored;
        bool held = false;
        if (tries > 0) lb_sleep_until(lb_now() + SETTLE_AGAIN_NS);
        enum lb_outcome outcome = read_entry(session, request->key, &sequence, &held);
        if (outcome != LB_OK) return outcome;
        bool ours = held && strcmp(nats_session_of(session)->text, mine->owner) == 0;
        if (!ours && sequence > mine->expected) return LB_OK;
        if (!ours && held) continue;
        outcome = write_entry(session, request->key, NULL, sequence, &ignored);
        if (outcome != LB_BUSY) return outcome;
    }
    return lb_fail(session, LB_UNKNOWN,
                   "nats: could not find out whether the key is ours: it changes too often, or a "
                   "replica is behind");
}

/* Asks for what the server says of the bucket's stream. A new reference, or NULL with err. */
static json_t *ask_stream(struct lb_session *session, const char *body, struct lb_err *err) {
    char subject[128];
    snprintf(subject, sizeof subject, "$JS.API.STREAM.INFO.KV_%s", kv_of(session)->bucket);
    return nats_ask(session, subject, body, err);
}

/* Writes the name of the bucket for a lease. Returns the age at which its entries end. */
static int64_t name_bucket(const struct lb_session *session, char *bucket, size_t size) {
    const struct kv_options *options = session->options;
    int64_t lease_ns = session->lease_ns > 0 ? session->lease_ns : 10 * LB_S_NS;
    int64_t max_age_ms = (lease_ns + LB_MS_NS - 1) / LB_MS_NS;
    if (max_age_ms < 100) max_age_ms = 100; /* the least age that the server accepts */
    snprintf(bucket, size, "%s_%lldms", options->bucket, (long long)max_age_ms);
    return max_age_ms * LB_MS_NS;
}

static void kv_names(const struct lb_session *session, const struct lb_request *request,
                     struct lb_names *names) {
    char bucket[64];
    if (!key_fits(request)) return;
    name_bucket(session, bucket, sizeof bucket);
    lb_names_add(names, "bucket for this lease", "%s", bucket);
    lb_names_add(names, "key of the bucket", "%s", request->key);
    lb_names_add(names, "subject", "$KV.%s.%s", bucket, request->key);
}

/* Reads the bucket until a read is answered. A server of a cluster may drop the reads of a new bucket that it has
 * not taken up yet (seen with nats-server 2.9 on a busy machine: one of six). 0, or -1 with err. */
static int await_answers(struct lb_session *session, struct lb_err *err) {
    struct nats_session *nats = nats_session_of(session);
    const int64_t patience_ns = nats->patience_ns, until_ns = lb_now() + patience_ns;
    enum lb_outcome connection = LB_OK;
    while (connection == LB_OK && lb_now() < until_ns && !lb_stopping()) {
        uint64_t sequence;
        bool held;
        session->err.code = 0;
        nats->patience_ns = patience_ns < READ_AGAIN_NS ? patience_ns : READ_AGAIN_NS;
        enum lb_outcome outcome = read_entry(session, "lockbench", &sequence, &held);
        nats->patience_ns = patience_ns;
        if (outcome == LB_OK) return 0;
        if (nats->stream.dead && !nats->unanswered) break;
        nats->stream.dead = false; /* a late answer has a number that nobody awaits */
        nats->patience_ns = until_ns - lb_now();
        connection = nats_round_trip(session);
        nats->patience_ns = patience_ns;
        lb_sleep_until(lb_now() + 20 * LB_MS_NS); /* "nobody serves it" is answered at once */
    }
    return err_set(err, LB_EXIT_MACHINE, "nats: bucket %s answers no read: %s",
                   kv_of(session)->bucket, session->err.text);
}

/* Takes a bucket that another program has made if its entries end after the lease, only the last one of a key is kept,
 * and it answers direct reads: then it is the same lock. The number of its replicas is its own. 0, or -1 with err. */
static int check_bucket(struct lb_session *session, struct lb_err *err) {
    const struct kv_session *kv = kv_of(session);
    json_t *info = ask_stream(session, "", err);
    const json_t *config = json_object_get(info, "config");
    json_int_t age_ns = json_integer_value(json_object_get(config, "max_age")),
               history = json_integer_value(json_object_get(config, "max_msgs_per_subject"));
    bool direct = json_is_true(json_object_get(config, "allow_direct"));
    nats_session_of(session)->replicas =
        (int)json_integer_value(json_object_get(config, "num_replicas"));
    json_decref(info);
    if (!info) return -1;
    char differs[160] = "";
    if (age_ns != kv->max_age_ns)
        snprintf(differs, sizeof differs,
                 "its entries end after %g s (0: never), not %g s (max_age)", (double)age_ns / 1e9,
                 (double)kv->max_age_ns / 1e9);
    else if (history != 1)
        snprintf(differs, sizeof differs, "it keeps %lld entries of a key, not 1 (history)",
                 (long long)history);
    else if (!direct)
        snprintf(differs, sizeof differs, "it has no direct reads (allow_direct)");
    return *differs ? err_set(err, LB_EXIT_USAGE,
                              "nats: bucket %s exists, and %s: choose another nats-kv.bucket",
                              kv->bucket, differs)
                    : 0;
}

/* Creates the bucket, unless it exists, with the settings of NATS's clients. */
static int kv_prepare(struct lb_session *session, int64_t deadline_ns, struct lb_err *err) {
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const struct kv_options *options = session->options;
    struct kv_session *kv = kv_of(session);
    struct nats_session *nats = nats_session_of(session);
    char subject[128], body[768];
    struct nats_message answer;
    const char *why;
    (void)deadline_ns; /* limited by the session's patience */
    size_t len = strlen(options->bucket);
    if (len == 0 || len > 32 || strspn(options->bucket, letters) != len)
        return err_set(err, LB_EXIT_USAGE,
                       "nats: a bucket's name has 1 to 32 letters, digits, - and _");
    kv->max_age_ns = name_bucket(session, kv->bucket, sizeof kv->bucket);
    snprintf(subject, sizeof subject, "$JS.API.STREAM.CREATE.KV_%s", kv->bucket);
    nats->replicas = (int)options->replicas;
    if (nats->replicas == 0) nats->replicas = nats->cluster[0] ? CLUSTER_REPLICAS : 1;
    long long twins_ns = kv->max_age_ns < 120 * LB_S_NS ? kv->max_age_ns : 120 * LB_S_NS;
    snprintf(
        body, sizeof body,
        "{\"name\":\"KV_%s\",\"description\":\"" LB_MADE_BY
        "\",\"subjects\":[\"$KV.%s.>\"],\"retention\":\"limits\",\"max_consumers\":-1,"
        "\"max_msgs\":-1,\"max_bytes\":-1,\"max_msgs_per_subject\":1,\"max_age\":%lld,\"max_msg_size\":-1,"
        "\"storage\":\"%s\",\"num_replicas\":%d,\"discard\":\"new\",\"duplicate_window\":%lld,"
        "\"allow_rollup_hdrs\":true,\"deny_delete\":true,\"allow_direct\":true}",
        kv->bucket, kv->bucket, (long long)kv->max_age_ns, options->storage ? "memory" : "file",
        nats->replicas, twins_ns);
    if (nats_request(session, subject, NULL, body, &answer) != LB_OK)
        return err_set(err, LB_EXIT_MACHINE, "%s", session->err.text);
    int error = nats_error(&answer, &why);
    if (error && error != OTHER_CONFIGURATION)
        return err_set(err, LB_EXIT_MACHINE, "nats: bucket %s: %s (%d)", kv->bucket, why, error);
    /* NATS gives the same answer to the client that makes the bucket and to one that finds it
     * there. */
    if (!error) return nats->replicas > 1 ? await_answers(session, err) : 0;
    return check_bucket(session, err);
}

/* Counts the subjects with the prefix that have an entry. */
static int count_entries(struct lb_session *session, const json_t *subjects, const char *prefix,
                         struct lb_residue *residue, struct lb_err *err) {
    const char *name;
    json_t *ignored;
    char from[LB_KEY_MAX + 80];
    size_t skip = (size_t)snprintf(from, sizeof from, "$KV.%s.", kv_of(session)->bucket);
    json_object_foreach((json_t *)(uintptr_t)subjects, name, ignored) {
        uint64_t sequence;
        bool held = false;
        if (strncmp(name, from, skip) != 0 || strncmp(name + skip, prefix, strlen(prefix)) != 0)
            continue;
        if (read_entry(session, name + skip, &sequence, &held) != LB_OK)
            return err_set(err, LB_EXIT_MACHINE, "%s", session->err.text);
        lb_left(residue, held, "key %.100s", name + skip);
    }
    return 0;
}

static int kv_residue(struct lb_session *session, const char *prefix, struct lb_residue *residue,
                      struct lb_err *err) {
    char body[128];
    snprintf(body, sizeof body, "{\"subjects_filter\":\"$KV.%s.>\"}", kv_of(session)->bucket);
    /* The server drops the consumers of watches in its own time. */
    for (int64_t until_ns = lb_now() + LB_S_NS;; lb_sleep_until(lb_now() + 20 * LB_MS_NS)) {
        json_t *info = ask_stream(session, body, err);
        const json_t *state = json_object_get(info, "state");
        json_int_t consumers = json_integer_value(json_object_get(state, "consumer_count"));
        int failed = info ? 0 : -1;
        if (!failed && *body) /* the entries are counted at once, before more of them age out */
            failed =
                count_entries(session, json_object_get(state, "subjects"), prefix, residue, err);
        *body = '\0';
        json_decref(info);
        if (failed) return -1;
        if (consumers > 0 && lb_now() < until_ns) continue;
        lb_left(residue, (uint64_t)consumers, "a consumer of %s", kv_of(session)->bucket);
        return 0;
    }
}

static const struct lb_option kv_options[] = {
    {"bucket", LB_OPT_TEXT, offsetof(struct kv_options, bucket), "lockbench", 0, 0, NULL,
     "the bucket's name, to which _<lease>ms is added; made if it is not there"},
    {"storage", LB_OPT_CHOICE, offsetof(struct kv_options, storage), "file", 0, 0, "file,memory",
     "where a new bucket is kept"},
    {"replicas", LB_OPT_INT, offsetof(struct kv_options, replicas), "0", 0, 5, NULL,
     "servers that keep a new bucket; 0 = three of a cluster, or the one that is alone"},
    {"poll", LB_OPT_DURATION, offsetof(struct kv_options, poll_ns), "1s", 1e6, 60e9, NULL,
     "how often a waiter looks whether the holder's entry has aged out, which NATS does not tell"},
    {0},
};

/* The bound is above what a grant costs without other waiters: 2 + 1 requests, and a watch. */
static const struct lb_known_cause kv_causes[] = {
    {"cost.commands_per_grant", .above = 8,
     .cause = "a release wakes all waiters, since all watch the key, and all but one ask in vain"},
    {0},
};

static const struct lb_algorithm algorithm = {
    .options = kv_options,
    .causes = kv_causes,
    .options_bytes = sizeof(struct kv_options),
    .session_bytes = sizeof(struct kv_session),
    .grant_bytes = sizeof(struct kv_grant),
    .prepare = kv_prepare,
    .acquire = kv_acquire,
    .release = kv_release,
    .renew = kv_renew,
    .settle = kv_settle,
    .residue = kv_residue,
    .names = kv_names,
};

const struct lb_lock lock_nats_kv = {
    .name = "nats-kv",
    .summary = "a key of a JetStream bucket, each write bound to the last sequence seen",
    .backend = &backend_nats,
    .primitive = LB_MUTEX,
    .caps = LB_CAP_TRY | LB_CAP_WAIT | LB_CAP_LEASE | LB_CAP_RENEW | LB_CAP_FENCE,
    .claims = LB_CLAIM_EXCLUDES | LB_CLAIM_CRASH_RELEASE,
    .waits = "all waiters watch the key",
    .keeps =
        "the bucket, a stream KV_<bucket>_<lease>ms, and in it a delete marker for each key until its age "
        "ends",
    .about = {.compatible =
                  "kv.Create and kv.Update of NATS's clients on the same bucket; their kv.Delete "
                  "frees any client's lock",
              .order = "none",
              .token = "the entry's sequence in the bucket's stream",
              .hazards =
                  "one lease for a whole bucket; a delete without an expected sequence, as NATS's "
                  "clients send it, frees another client's lock; flushed to disk only every two "
                  "minutes; a cluster of nats-server 2.9 accepts two writes that build on the same "
                  "sequence, and so has two holders, unless the bucket has one replica",
              LB_TERMS(2, 1, LB_ON_MAJORITY, LB_CRASH_LEASE),
              .crash_slack_ns = 3 * LB_S_NS},
    .algorithm = &algorithm,
};
