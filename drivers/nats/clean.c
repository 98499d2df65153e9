/* clean: removes the buckets that lockbench made on a NATS server; see drivers/clean.h. A bucket is
 * a stream whose description says that lockbench made it. The entries of a stage end by their age,
 * so they need not be removed. */
#include <stdio.h>
#include <string.h>

#include "drivers/clean.h"
#include "drivers/nats/nats.h"
#include "drivers/wait.h"

/* True if a text may be part of a subject. */
static bool is_token(const char *text) {
    return text && *text && !strpbrk(text, " \t\r\n*>");
}

/* The keys of a bucket, or one of them, as {"$KV.BUCKET.KEY": count}: a member of *ret_info, which
 * the caller frees. NULL = there are none. */
static json_t *subjects_of(struct lb_session *session, const char *bucket, const char *key,
                           json_t **ret_info, struct lb_err *err) {
    char subject[NATS_SUBJECT_MAX], body[NATS_SUBJECT_MAX];
    snprintf(subject, sizeof subject, "$JS.API.STREAM.INFO.KV_%s", bucket);
    snprintf(body, sizeof body, "{\"subjects_filter\":\"$KV.%s.%s\"}", bucket, key);
    *ret_info = nats_ask(session, subject, body, err);
    return json_object_get(json_object_get(*ret_info, "state"), "subjects");
}

/* True if no client used a bucket within its lease: a bucket in use has at least the marker of a
 * deleted key. A bucket with keys may belong to another run, whose clients would lose their locks
 * with it. */
static bool is_unused(struct lb_session *session, const char *bucket, struct lb_err *err) {
    json_t *info = NULL;
    bool unused = json_object_size(subjects_of(session, bucket, ">", &info, err)) == 0;
    json_decref(info);
    return unused && !err->code;
}

static int tell_jetstream(struct lb_session *session, const char *what, const char *bucket,
                          const char *body, struct lb_err *err) {
    char subject[NATS_SUBJECT_MAX];
    snprintf(subject, sizeof subject, "$JS.API.STREAM.%s.KV_%s", what, bucket);
    json_t *done = nats_ask(session, subject, body, err);
    json_decref(done);
    return done ? 0 : -1;
}

static int clean_key(struct lb_session *session, const char *bucket, struct lb_cleaning *cleaning,
                     struct lb_err *err) {
    char body[NATS_SUBJECT_MAX];
    json_t *info = NULL;
    bool there = json_object_size(subjects_of(session, bucket, cleaning->name, &info, err)) > 0;
    json_decref(info);
    if (err->code) return -1;
    if (!there || !lb_clean_found(cleaning, "key", "%s of bucket %s", cleaning->name, bucket))
        return 0;
    snprintf(body, sizeof body, "{\"filter\":\"$KV.%s.%s\"}", bucket, cleaning->name);
    return tell_jetstream(session, "PURGE", bucket, body, err);
}

static int clean_bucket(struct lb_session *session, const char *bucket,
                        struct lb_cleaning *cleaning, struct lb_err *err) {
    if (cleaning->scope == LB_CLEAN_KEY) return clean_key(session, bucket, cleaning, err);
    if (cleaning->scope == LB_CLEAN_EMPTY && !is_unused(session, bucket, err))
        return err->code ? -1 : 0;
    if (!lb_clean_found(cleaning, "bucket", "%s", bucket)) return 0;
    return tell_jetstream(session, "DELETE", bucket, "", err);
}

/* Collects the buckets on one page of the list of streams. *ret_next: where the next page
 * begins, 0 = there is none. Removing a stream moves the others up, so the list is read
 * completely before any is removed. */
static json_t *read_page(struct lb_session *session, json_int_t offset, json_t *buckets,
                         json_int_t *ret_next, struct lb_err *err) {
    char body[64];
    size_t i;
    json_t *stream;
    snprintf(body, sizeof body, "{\"offset\":%lld}", (long long)offset);
    json_t *page = nats_ask(session, "$JS.API.STREAM.LIST", body, err);
    json_t *streams = json_object_get(page, "streams");
    json_array_foreach(streams, i, stream) {
        const json_t *config = json_object_get(stream, "config");
        const char *name = json_string_value(json_object_get(config, "name"));
        const char *says = json_string_value(json_object_get(config, "description"));
        bool ours = says && strcmp(says, LB_MADE_BY) == 0 && is_token(name);
        if (ours && strncmp(name, "KV_", 3) == 0)
            json_array_append_new(buckets, json_string(name + 3));
    }
    json_int_t total = json_integer_value(json_object_get(page, "total"));
    json_int_t read = offset + (json_int_t)json_array_size(streams);
    *ret_next = json_array_size(streams) > 0 && read < total ? read : 0;
    return page;
}

int nats_clean(struct lb_session *session, struct lb_cleaning *cleaning, struct lb_err *err) {
    json_t *buckets = json_array(), *page, *bucket;
    json_int_t offset = 0;
    size_t i;
    int failed = buckets ? 0 : err_set(err, LB_EXIT_MACHINE, "out of memory");
    if (cleaning->scope == LB_CLEAN_STAGE) goto out;
    if (cleaning->scope == LB_CLEAN_KEY && !is_token(cleaning->name)) goto out; /* no key of NATS */
    do {
        page = read_page(session, offset, buckets, &offset, err);
        failed = page ? 0 : -1;
        json_decref(page);
    } while (!failed && offset > 0);
    json_array_foreach(buckets, i, bucket) {
        if (failed || lb_stopping()) break;
        failed = clean_bucket(session, json_string_value(bucket), cleaning, err);
    }
out:
    json_decref(buckets);
    return failed;
}
