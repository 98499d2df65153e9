/* What the etcd driver does with bytes, without a server: gRPC frames and JSON lines however they
 * are split, keys and ranges, and messages as JSON and back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/base/rng.h"
#include "drivers/etcd/cutter.h"
#include "drivers/etcd/keys.h"

struct heard {
    int count, stop_at; /* stop_at: each says no at that message; 0 = never */
    size_t len[8];
    uint8_t text[8][64];
};

static int hear(void *arg, const uint8_t *message, size_t len) {
    struct heard *heard = arg;
    assert_true(heard->count < 8 && len <= sizeof heard->text[0]);
    memcpy(heard->text[heard->count], message, len);
    heard->len[heard->count++] = len;
    return heard->count == heard->stop_at ? -1 : 0;
}

static size_t add_frame(uint8_t *out, size_t used, const char *text, size_t len) {
    cut_head(out + used, len);
    memcpy(out + used + CUT_HEAD_BYTES, text, len);
    return used + CUT_HEAD_BYTES + len;
}

static void a_frames_head(void **state) {
    (void)state;
    uint8_t head[CUT_HEAD_BYTES];
    cut_head(head, 0x01020304);
    assert_memory_equal(head, "\0\1\2\3\4", CUT_HEAD_BYTES);
}

/* Three messages, one of them empty, cut at every two places. */
static void frames_survive_any_split(void **state) {
    (void)state;
    uint8_t bytes[64], buffer[32];
    size_t len = add_frame(bytes, 0, "first", 5);
    len = add_frame(bytes, len, "", 0);
    len = add_frame(bytes, len, "\0\nlast", 6);
    for (size_t one = 0; one <= len; one++) {
        for (size_t two = one; two <= len; two++) {
            struct heard heard = {0};
            struct cutter cutter = {CUT_FRAMES, buffer, sizeof buffer, 0, hear, &heard};
            assert_int_equal(cut_feed(&cutter, bytes, one), 0);
            assert_int_equal(cut_feed(&cutter, bytes + one, two - one), 0);
            assert_int_equal(cut_feed(&cutter, bytes + two, len - two), 0);
            assert_int_equal(cut_end(&cutter), 0);
            assert_int_equal(heard.count, 3);
            assert_int_equal(heard.len[0], 5);
            assert_memory_equal(heard.text[0], "first", 5);
            assert_int_equal(heard.len[1], 0);
            assert_int_equal(heard.len[2], 6);
            assert_memory_equal(heard.text[2], "\0\nlast", 6);
        }
    }
}

static void frames_that_are_refused(void **state) {
    (void)state;
    uint8_t bytes[64], buffer[CUT_HEAD_BYTES + 8];
    struct heard heard = {0};
    struct cutter cutter = {CUT_FRAMES, buffer, sizeof buffer, 0, hear, &heard};
    size_t len = add_frame(bytes, 0, "12345678", 8); /* just fits */
    assert_int_equal(cut_feed(&cutter, bytes, len), 0);
    assert_int_equal(heard.count, 1);
    len = add_frame(bytes, 0, "123456789", 9);
    assert_int_equal(cut_feed(&cutter, bytes, len), -1);
    cutter.used = 0;
    memcpy(bytes, "\0\xff\xff\xff\xff", 5); /* 4 GB to come: refused at the head */
    assert_int_equal(cut_feed(&cutter, bytes, 5), -1);
    cutter.used = 0;
    len = add_frame(bytes, 0, "zip", 3);
    bytes[0] = 1; /* compressed */
    assert_int_equal(cut_feed(&cutter, bytes, len), -1);
    cutter.used = 0;
    bytes[0] = 0;
    assert_int_equal(cut_feed(&cutter, bytes, len - 1), 0);
    assert_int_equal(cut_end(&cutter), -1); /* ended within a message */
    heard = (struct heard){.stop_at = 1};
    cutter.used = 0;
    assert_int_equal(cut_feed(&cutter, bytes, len), -1); /* the reader said no */
}

static void lines_survive_any_split(void **state) {
    (void)state;
    /* the last without its newline */
    static const char text[] = "{\"a\":1}\n\n{\"b\":2}\n{\"c\":3}";
    const uint8_t *bytes = (const uint8_t *)text;
    size_t len = sizeof text - 1;
    uint8_t buffer[16];
    for (size_t one = 0; one <= len; one++) {
        struct heard heard = {0};
        struct cutter cutter = {CUT_LINES, buffer, sizeof buffer, 0, hear, &heard};
        assert_int_equal(cut_feed(&cutter, bytes, one), 0);
        assert_int_equal(cut_feed(&cutter, bytes + one, len - one), 0);
        assert_int_equal(heard.count, 2);
        assert_int_equal(cut_end(&cutter), 0);
        assert_int_equal(heard.count, 3);
        for (int i = 0; i < 3; i++) {
            char expected[24];
            snprintf(expected, sizeof expected, "{\"%c\":%d}", 'a' + i, i + 1);
            assert_int_equal(heard.len[i], 7);
            assert_memory_equal(heard.text[i], expected, 7);
        }
    }
}

static void a_line_too_long(void **state) {
    (void)state;
    uint8_t buffer[8];
    struct heard heard = {0};
    struct cutter cutter = {CUT_LINES, buffer, sizeof buffer, 0, hear, &heard};
    assert_int_equal(cut_feed(&cutter, (const uint8_t *)"12345678", 8), 0);
    assert_int_equal(cut_feed(&cutter, (const uint8_t *)"\n", 1), 0);
    assert_int_equal(heard.count, 1);
    assert_int_equal(cut_feed(&cutter, (const uint8_t *)"123456789", 9), -1);
}

static void keys_of_a_mutex(void **state) {
    (void)state;
    char key[ETCD_KEY_MAX];
    size_t len = etcd_lock_key("orders", 6, 0x694d7a1f03c2b50b, key);
    assert_int_equal(len, strlen("orders/694d7a1f03c2b50b"));
    assert_memory_equal(key, "orders/694d7a1f03c2b50b", len);
    len = etcd_lock_key("a\xff", 2, 7, key); /* Go's %x: no leading zeros */
    assert_int_equal(len, 4);
    assert_memory_equal(key, "a\xff/7", 4);
    char name[LB_KEY_MAX];
    memset(name, 'n', sizeof name);
    assert_int_equal(etcd_lock_key(name, sizeof name, INT64_MAX, key),
                     ETCD_KEY_MAX - ETCD_ROOT_MAX);
}

static void ends_of_prefixes(void **state) {
    (void)state;
    static const struct {
        const char *prefix, *end;
        size_t prefix_len, end_len;
    } cases[] = {
        {"foo/", "foo0", 4, 4},       {"a", "b", 1, 1},     {"a\xff", "b", 2, 1},
        {"a\xff\xff\xff", "b", 4, 1}, {"\xff", "\0", 1, 1}, {"\xff\xff", "\0", 2, 1},
        {"\xfe\xff", "\xff", 2, 1},   {"a\0", "a\1", 2, 2}, {"\x7f", "\x80", 1, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char end[8];
        size_t len = etcd_prefix_end(cases[i].prefix, cases[i].prefix_len, end);
        assert_int_equal(len, cases[i].end_len);
        assert_memory_equal(end, cases[i].end, len);
    }
}

#ifdef LB_HAVE_ETCD
#include "drivers/etcd/etcd.pb-c.h"
#include "drivers/etcd/json.h"

static ProtobufCBinaryData bytes_of(const char *text) {
    return (ProtobufCBinaryData){strlen(text), (uint8_t *)(uintptr_t)text};
}

/* Writes a message as JSON and compares it with what the gateway's documentation shows. */
static void expect_json(const ProtobufCMessage *message, const char *expected) {
    char text[1024];
    size_t len = json_of_message(message, text, sizeof text - 1);
    text[len] = '\0';
    assert_string_equal(text, expected);
    for (size_t size = 0; size < len; size++)
        assert_int_equal(json_of_message(message, text, size), 0);
    assert_int_equal(json_of_message(message, text, len), len);
}

static void a_transaction_as_json(void **state) {
    (void)state;
    Etcdserverpb__Compare compare = ETCDSERVERPB__COMPARE__INIT, *compares[] = {&compare};
    compare.target = ETCDSERVERPB__COMPARE__COMPARE_TARGET__CREATE;
    compare.key = bytes_of("foo/1");
    compare.target_union_case = ETCDSERVERPB__COMPARE__TARGET_UNION_CREATE_REVISION;
    Etcdserverpb__PutRequest put = ETCDSERVERPB__PUT_REQUEST__INIT;
    put.key = compare.key;
    put.lease = 7587848390119736587;
    Etcdserverpb__RangeRequest range = ETCDSERVERPB__RANGE_REQUEST__INIT;
    range.key = bytes_of("foo/");
    range.range_end = bytes_of("foo0");
    range.limit = 1;
    range.serializable = 1;
    range.sort_target = ETCDSERVERPB__RANGE_REQUEST__SORT_TARGET__CREATE;
    range.sort_order = ETCDSERVERPB__RANGE_REQUEST__SORT_ORDER__ASCEND;
    Etcdserverpb__RequestOp one = ETCDSERVERPB__REQUEST_OP__INIT, two = one,
                            *success[] = {&one, &two};
    one.request_case = ETCDSERVERPB__REQUEST_OP__REQUEST_REQUEST_PUT;
    one.request_put = &put;
    two.request_case = ETCDSERVERPB__REQUEST_OP__REQUEST_REQUEST_RANGE;
    two.request_range = &range;
    Etcdserverpb__TxnRequest txn = ETCDSERVERPB__TXN_REQUEST__INIT;
    txn.n_compare = 1;
    txn.compare = compares;
    txn.n_success = 2;
    txn.success = success;
    /* Zero fields are left out, but not the chosen one of a union: "create_revision":"0". */
    expect_json(
        &txn.base,
        "{\"compare\":[{\"target\":\"CREATE\",\"key\":\"Zm9vLzE=\",\"create_revision\":\"0\"}],"
        "\"success\":[{\"request_put\":{\"key\":\"Zm9vLzE=\",\"lease\":\"7587848390119736587\"}},"
        "{\"request_range\":{\"key\":\"Zm9vLw==\",\"range_end\":\"Zm9vMA==\",\"limit\":\"1\","
        "\"sort_order\":\"ASCEND\",\"sort_target\":\"CREATE\",\"serializable\":true}}]}");
}

static void a_watch_as_json(void **state) {
    (void)state;
    Etcdserverpb__WatchCreateRequest__FilterType filters[] = {
        ETCDSERVERPB__WATCH_CREATE_REQUEST__FILTER_TYPE__NOPUT,
        ETCDSERVERPB__WATCH_CREATE_REQUEST__FILTER_TYPE__NODELETE};
    Etcdserverpb__WatchCreateRequest create = ETCDSERVERPB__WATCH_CREATE_REQUEST__INIT;
    Etcdserverpb__WatchRequest watch = ETCDSERVERPB__WATCH_REQUEST__INIT;
    create.key = bytes_of("k");
    create.start_revision = 5;
    create.n_filters = 2;
    create.filters = filters;
    watch.request_union_case = ETCDSERVERPB__WATCH_REQUEST__REQUEST_UNION_CREATE_REQUEST;
    watch.create_request = &create;
    expect_json(&watch.base, "{\"create_request\":{\"key\":\"aw==\",\"start_revision\":\"5\","
                             "\"filters\":[\"NOPUT\",\"NODELETE\"]}}");
}

static void strings_as_json(void **state) {
    (void)state;
    Etcdserverpb__AuthenticateRequest request = ETCDSERVERPB__AUTHENTICATE_REQUEST__INIT;
    request.name = "quo\"te\\";
    request.password = "line\n\xc3\xa9";
    expect_json(&request.base,
                "{\"name\":\"quo\\u0022te\\u005c\",\"password\":\"line\\u000a\xc3\xa9\"}");
}

static uint8_t room[4096] __attribute__((aligned(16)));

static const void *read_json(const char *text, const ProtobufCMessageDescriptor *type,
                             size_t bytes) {
    struct slab slab;
    slab_init(&slab, room, bytes);
    json_t *object = json_loads(text, 0, NULL);
    assert_non_null(object);
    const void *message = message_of_json(object, type, &slab);
    json_decref(object);
    return message;
}

/* As etcd 3.4's gateway answers. */
static void an_answer_from_json(void **state) {
    (void)state;
    static const char text[] =
        "{\"header\":{\"cluster_id\":\"14841639068965178418\",\"member_id\":\"10276657743932975437\","
        "\"revision\":\"9\",\"raft_term\":\"2\",\"from_the_future\":[1,{}]},\"succeeded\":true,\"responses\":"
        "["
        "{\"response_put\":{\"header\":{\"revision\":\"9\"}}},"
        "{\"response_range\":{\"header\":{\"revision\":\"9\"},\"kvs\":[{\"key\":\"Zm9vLzE=\","
        "\"create_revision\":\"8\",\"mod_revision\":8,\"version\":\"1\",\"lease\":\"7587848390119736587\"}],"
        "\"count\":\"2\",\"more\":true}}]}";
    const Etcdserverpb__TxnResponse *answer =
        read_json(text, &etcdserverpb__txn_response__descriptor, sizeof room);
    assert_non_null(answer);
    assert_true(answer->header->cluster_id == 14841639068965178418u);
    assert_int_equal(answer->header->revision, 9);
    assert_true(answer->succeeded);
    assert_int_equal(answer->n_responses, 2);
    for (size_t i = 0; i < 2; i++) { /* the array and what it points at are apart */
        assert_ptr_equal(answer->responses[i]->base.descriptor,
                         &etcdserverpb__response_op__descriptor);
    }
    assert_int_equal(answer->responses[0]->response_case,
                     ETCDSERVERPB__RESPONSE_OP__RESPONSE_RESPONSE_PUT);
    assert_int_equal(answer->responses[1]->response_case,
                     ETCDSERVERPB__RESPONSE_OP__RESPONSE_RESPONSE_RANGE);
    const Etcdserverpb__RangeResponse *range = answer->responses[1]->response_range;
    assert_int_equal(range->n_kvs, 1);
    assert_int_equal(range->count, 2);
    assert_int_equal(range->kvs[0]->key.len, 5);
    assert_memory_equal(range->kvs[0]->key.data, "foo/1", 5);
    assert_int_equal(range->kvs[0]->create_revision, 8);
    assert_int_equal(range->kvs[0]->mod_revision, 8); /* a number is taken too */
    assert_int_equal(range->kvs[0]->lease, 7587848390119736587);
    assert_int_equal(range->kvs[0]->value.len, 0);
    /* Too little room is no message, at every size; never a write beyond it (under
     * AddressSanitizer). */
    for (size_t bytes = 0; bytes < 512; bytes += 16) {
        assert_null(read_json(text, &etcdserverpb__txn_response__descriptor, bytes));
    }
}

static void events_from_json(void **state) {
    (void)state;
    const Etcdserverpb__WatchResponse *answer = read_json(
        "{\"header\":{},\"events\":[{\"kv\":{\"key\":\"aw==\"}},{\"type\":\"DELETE\",\"kv\":{\"key\":"
        "\"aw==\",\"mod_revision\":\"12\"}}]}",
        &etcdserverpb__watch_response__descriptor, sizeof room);
    assert_non_null(answer);
    assert_int_equal(answer->n_events, 2);
    /* zero, so left out */
    assert_int_equal(answer->events[0]->type, ETCDSERVERPB__EVENT__EVENT_TYPE__PUT);
    assert_int_equal(answer->events[1]->type, ETCDSERVERPB__EVENT__EVENT_TYPE__DELETE);
    assert_int_equal(answer->events[1]->kv->mod_revision, 12);
    const Etcdserverpb__LeaseKeepAliveResponse *gone = read_json(
        "{\"ID\":\"7\"}", &etcdserverpb__lease_keep_alive_response__descriptor, sizeof room);
    assert_int_equal(gone->id, 7);
    assert_int_equal(gone->ttl, 0); /* how an expired lease looks */
}

static void json_of_the_wrong_form(void **state) {
    (void)state;
    static const char *const texts[] = {
        "[]",
        "{\"count\":\"\"}",
        "{\"count\":\"12x\"}",
        "{\"count\":\"99999999999999999999\"}",
        "{\"count\":{}}",
        "{\"count\":true}",
        "{\"more\":\"true\"}",
        "{\"header\":7}",
        "{\"header\":{\"revision\":[]}}",
        "{\"kvs\":{}}",
        "{\"kvs\":[{\"key\":\"no base64\"}]}",
        "{\"kvs\":[{\"key\":5}]}",
        "{\"kvs\":[null]}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const void *message =
            read_json(texts[i], &etcdserverpb__range_response__descriptor, sizeof room);
        if (message) fail_msg("taken: %s", texts[i]);
    }
    assert_non_null(
        read_json("{\"count\":null}", &etcdserverpb__range_response__descriptor, sizeof room));
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_frames_head),           cmocka_unit_test(frames_survive_any_split),
        cmocka_unit_test(frames_that_are_refused), cmocka_unit_test(lines_survive_any_split),
        cmocka_unit_test(a_line_too_long),         cmocka_unit_test(keys_of_a_mutex),
        cmocka_unit_test(ends_of_prefixes),
#ifdef LB_HAVE_ETCD
        cmocka_unit_test(a_transaction_as_json),   cmocka_unit_test(a_watch_as_json),
        cmocka_unit_test(strings_as_json),         cmocka_unit_test(an_answer_from_json),
        cmocka_unit_test(events_from_json),        cmocka_unit_test(json_of_the_wrong_form),
#endif
    };
    return cmocka_run_group_tests_name("etcd wire", tests, NULL, NULL);
}
