/* history_say: a history told record by record, and its verdict. Header only, since each test is
 * one program. */
#ifndef BENCH_TESTS_HISTORY_SAY_H
#define BENCH_TESTS_HISTORY_SAY_H

#include "bench/oplog/judge.h"
#include "bench/tests/unit.h"

#define CLIENTS 8
#define SESSION 1000

static struct book book;
static struct judgement judgement;
static struct lb_err err;

static inline void begin_as(enum oplog_model model, uint32_t bound, bool by_slot) {
    struct oplog_rules rules = {.model = model,
                                .bound = bound,
                                .by_slot = by_slot,
                                .clients = CLIENTS,
                                .session_ns = SESSION,
                                .cut_ns = 0};
    err.code = 0;
    assert_int_equal(book_begin(&book, &rules, &err), 0);
}

FIXTURE(begin) {
    begin_as(OPLOG_MUTEX, 1, false);
    return 0;
}

FIXTURE(end) {
    book_done(&book);
    return 0;
}

static inline void become(enum oplog_model model, uint32_t bound, bool by_slot) {
    book_done(&book);
    begin_as(model, bound, by_slot);
}

static inline void add(struct oplog_record record) {
    if (record.lease_end_ns == 0) record.lease_end_ns = LB_NEVER;
    assert_int_equal(book_add(&book, &record, 1, &err), 0);
}

static inline void got(uint32_t client, int64_t called_ns, int64_t from_ns) {
    add((struct oplog_record){
        .kind = OPLOG_ACQUIRE, .client = client, .begin_ns = called_ns, .end_ns = from_ns});
}

static inline void got_lease(uint32_t client, int64_t called_ns, int64_t from_ns,
                             int64_t lease_end_ns) {
    add((struct oplog_record){.kind = OPLOG_ACQUIRE,
                              .client = client,
                              .begin_ns = called_ns,
                              .end_ns = from_ns,
                              .lease_end_ns = lease_end_ns});
}

static inline void got_token(uint32_t client, int64_t called_ns, int64_t from_ns, uint64_t token) {
    add((struct oplog_record){.kind = OPLOG_ACQUIRE,
                              .client = client,
                              .begin_ns = called_ns,
                              .end_ns = from_ns,
                              .token = token});
}

static inline void tried(uint32_t client, int64_t called_ns, int64_t returned_ns,
                         enum oplog_outcome outcome) {
    add((struct oplog_record){.kind = OPLOG_ACQUIRE,
                              .outcome = (uint8_t)outcome,
                              .client = client,
                              .begin_ns = called_ns,
                              .end_ns = returned_ns});
}

static inline void left(uint32_t client, int64_t to_ns, int64_t released_ns,
                        enum oplog_outcome outcome, unsigned flags) {
    add((struct oplog_record){.kind = OPLOG_RELEASE,
                              .outcome = (uint8_t)outcome,
                              .flags = (uint8_t)flags,
                              .client = client,
                              .begin_ns = to_ns,
                              .end_ns = released_ns});
}

static inline void released(uint32_t client, int64_t to_ns, int64_t released_ns) {
    left(client, to_ns, released_ns, OPLOG_OK, 0);
}

static inline void renewed(uint32_t client, int64_t now_ns, int64_t lease_end_ns) {
    add((struct oplog_record){.kind = OPLOG_RENEWAL,
                              .client = client,
                              .begin_ns = now_ns,
                              .end_ns = now_ns,
                              .lease_end_ns = lease_end_ns});
}

static inline void happened(enum oplog_kind kind, uint32_t first, uint32_t count, int64_t begin_ns,
                            int64_t end_ns) {
    add((struct oplog_record){.kind = (uint8_t)kind,
                              .client = first,
                              .clients = count,
                              .begin_ns = begin_ns,
                              .end_ns = end_ns});
}

static inline void assert_verdict(enum oplog_verdict verdict, uint64_t violations, uint64_t expired,
                                  uint64_t token_errors) {
    book_end(&book, 0, true);
    assert_int_equal(oplog_judge(&book, &judgement, NULL, &err), 0);
    assert_int_equal(judgement.verdict, verdict);
    assert_int_equal(judgement.violations, violations);
    assert_int_equal(judgement.expired, expired);
    assert_int_equal(judgement.token_errors, token_errors);
}

static inline void assert_witnesses(int64_t first_from_ns, int64_t second_from_ns) {
    assert_int_equal(judgement.witness_count, 2);
    assert_int_equal(book.holds[judgement.witness[0]].from_ns, first_from_ns);
    assert_int_equal(book.holds[judgement.witness[1]].from_ns, second_from_ns);
}

/* A test on a book of its own, of a mutex until it calls become. */
#define KNOWN(name) TEST_WITH(name, begin, end)

#endif
