/* explain: the counter-example of a judgement: the few operations that contradict each other, for
 * people and for JSON. */
#ifndef BENCH_OPLOG_EXPLAIN_H
#define BENCH_OPLOG_EXPLAIN_H

#include "bench/oplog/judge.h"

#define EXPLAIN_LINES (2 * OPLOG_WITNESSES)

struct oplog_line {
    uint32_t client, key;
    const char *op; /* "acquire", "renew", "release", "told" */
    int64_t begin_ns, end_ns;
    const char *outcome;
    uint64_t token;
    int64_t lease_end_ns; /* LB_NEVER = none */
    bool shared;
    char note[96]; /* its part in the contradiction; "" = none */
};

/* Writes the acquires from first to last, then the ends of all holds but the last one. witness: the
 * judgement's witnesses, witness_count of them. Returns the number of lines. */
int oplog_explain(const struct oplog_rules *rules, const struct judgement *judgement,
                  const struct hold *witness, struct oplog_line lines[EXPLAIN_LINES]);

/* The key of a hold, also where holds are kept by slot. */
uint32_t hold_key(const struct oplog_rules *rules, const struct hold *hold);

/* The end of a hold as a word: "ok", "lost", "unknown", "killed", ... */
const char *hold_end_name(const struct hold *hold);

#endif
