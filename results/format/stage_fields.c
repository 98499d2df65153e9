/* stage_fields: stage.def as a table. See run_read.h. */
#include "results/format/run_read.h"

#include "bench/base/verdict.h"

#define OPERATIONS_MAX 10000 /* elements of a counter-example, a list of faults */

#define ITEM(kind_, path_, ...)                                                                    \
    { .path = path_, .kind = RESULT_##kind_, .help = __VA_ARGS__ }

static const struct result_field overlap_items[] = {
    ITEM(COUNT, "key", "number of the key"),
    ITEM(OBJECT, "holder", "who held it"),
    ITEM(COUNT, "holder.client", "number of the client"),
    ITEM(NS, "holder.acquired_ns", "when it was granted; the clock's zero is unknown"),
    ITEM(NS, "holder.lease_end_ns", "when its lease ends; null = it has none"),
    ITEM(COUNT, "holder.token", "its fencing token, up to 64 bits; 0 = none"),
    ITEM(OBJECT, "intruder", "who came in too"),
    ITEM(COUNT, "intruder.client", "as of the holder"),
    ITEM(NS, "intruder.acquired_ns", "as of the holder"),
    ITEM(NS, "intruder.lease_end_ns", "as of the holder"),
    ITEM(COUNT, "intruder.token", "as of the holder"),
    {.path = NULL},
};

static const struct result_field operation_items[] = {
    ITEM(COUNT, "client", "number of the client"),
    ITEM(COUNT, "key", "number of the key"),
    ITEM(TEXT, "op", "acquire, renew, release, or told (it learned of its loss)"),
    ITEM(SIGNED, "begin_s", "when it was called, from the window's begin", .unit = "s"),
    ITEM(SIGNED, "end_s", "when it returned; null = never", .unit = "s"),
    ITEM(TEXT, "outcome", "how it ended"),
    ITEM(COUNT, "token", "fencing token; 0 = none"),
    ITEM(SIGNED, "lease_end_s", "when its lease ends; null = it has none", .unit = "s"),
    ITEM(FLAG, "shared", "as a reader"),
    ITEM(TEXT, "note", "what is wrong with it"),
    {.path = NULL},
};

static const struct result_field fault_items[] = {
    ITEM(TEXT, "kind", "what was done"),
    ITEM(TEXT, "section", "the workload's section that asked for it"),
    ITEM(TEXT, "target", "as the workload has it"),
    ITEM(
        COUNT, "injection",
        "which injection of its section, from 1; one that hits several servers has an entry for each"),
    ITEM(COUNT, "process", "process that it hit; null = none, or all"),
    ITEM(COUNT, "client", "client that it hit; null = none, or all"),
    ITEM(COUNT, "node", "node that it hit, from 0; null = none, or all"),
    ITEM(COUNT, "key", "what a `holder` held, or a `waiter` waited for"),
    ITEM(SIGNED, "from_s", "from the window's begin", .unit = "s"),
    ITEM(SIGNED, "to_s",
         "when it was undone (a killed server: when it listened again); null = it was not",
         .unit = "s"),
    ITEM(FLAG, "acted", "it is known to have acted"),
    ITEM(COUNT, "held", "the grants that its victims had when it began; null without a history"),
    ITEM(
        COUNT, "outlasted",
        "those of them whose lease, and whose hold, lasted until `to_s`, and those without a lease; null "
        "without a history, or an end"),
    ITEM(
        COUNT, "tested",
        "those of `held` that it put to the test: another client could have met the holder, or the "
        "servers said whether they still knew the grant; null without a history"),
    ITEM(TEXT, "sign", "by what that is known, or why it did not"),
    {.path = NULL},
};

static const struct result_field series_items[] = {
    ITEM(SIGNED, "t_s", "begin of the second (slo.stop: half a second), from the window's begin",
         .unit = "s"),
    ITEM(COUNT, "ok", "grants in it"),
    ITEM(
        NS, "acquire_p50_ns",
        "from asking to holding, median of the times that threads handed over in it: a thread that is late by "
        "more than 20 ms hands over its times in the next second; null of fewer than 10 times, and where a "
        "load host's log is incomplete"),
    ITEM(NS, "acquire_p99_ns",
         "the same, p99; null of fewer than 500 times, and where the median is null"),
    ITEM(FLAG, "draining",
         "it is no second: grants after the window's end to clients that asked before it"),
    {.path = NULL},
};

static const struct result_field host_items[] = {
    ITEM(TEXT, "name", "of the machine"),
    ITEM(COUNT, "clients", "that it had"),
    ITEM(SIGNED, "clock_offset_ns",
         "its clock minus that of the coordinator, at the window's begin", .unit = "ns"),
    ITEM(
        NS, "clock_error_ns",
        "by how much that may be wrong at any moment of the stage: half the least round trip, and the "
        "change between two measurements"),
    ITEM(COUNT, "grants",
         "in the window. This and the next figure are null for a host that was lost"),
    ITEM(NS, "hiccup_p99_ns", "how late its timers were, p99"),
    ITEM(TEXT, "lost", "why its figures are missing; null = they are not"),
    {.path = NULL},
};

#define AT(member) offsetof(struct run_stage, member)
#define UNWRAP(...) __VA_ARGS__
/* clang-format off */
#define PART(metric_, path_, part_, kind_, ...)                                                    \
    {.path = path_ "." #part_, .kind = RESULT_##kind_, .offset = AT(latency[metric_].part_), __VA_ARGS__},

#define FIELD(kind_, member_, path_, ...)                                                          \
    {.path = path_, .kind = RESULT_##kind_, .offset = AT(member_), __VA_ARGS__},
#define OBJECT(kind_, path_, help_) {.path = path_, .kind = RESULT_##kind_, .help = help_},
#define LATENCY(metric_, path_, help_, p50_, p90_, p99_, p999_, max_)                              \
    {.path = path_, .kind = RESULT_LATENCY, .offset = AT(latency[metric_]), .help = help_},        \
    PART(metric_, path_, count, COUNT, )                                                           \
    PART(metric_, path_, min, NS, )                                                                \
    PART(metric_, path_, mean, REAL_NS, )                                                          \
    PART(metric_, path_, p50, NS, UNWRAP p50_)                                                     \
    PART(metric_, path_, p90, NS, UNWRAP p90_)                                                     \
    PART(metric_, path_, p99, NS, UNWRAP p99_)                                                     \
    PART(metric_, path_, p999, NS, UNWRAP p999_)                                                   \
    PART(metric_, path_, max, NS, UNWRAP max_)                                                     \
    PART(metric_, path_, over, COUNT, )                                                            \
    PART(metric_, path_, hdr, HDR, )
/* clang-format on */

static const struct result_field fields[] = {
#include "results/format/stage.def"
    {.path = NULL},
};

const struct result_field *run_stage_fields(void) {
    return fields;
}

/* The parts of a latency object, for the reference. */
static const struct result_field latency_items[] = {
    ITEM(COUNT, "count", "values that were recorded"),
    ITEM(NS, "min", "the smallest"),
    ITEM(REAL_NS, "mean", "arithmetic mean"),
    ITEM(NS, "p50", "half of them are not above it"),
    ITEM(NS, "p90", "9 of 10 are not above it"),
    ITEM(NS, "p99", "99 of 100 are not above it"),
    ITEM(NS, "p999", "999 of 1,000 are not above it"),
    ITEM(NS, "max", "the greatest"),
    ITEM(COUNT, "over", "values beyond an hour, which are in none of the others"),
    ITEM(HDR, "hdr", "all of them: a histogram, HdrHistogram V2, compressed, base64"),
    {.path = NULL},
};

const struct result_field *run_latency_fields(void) {
    return latency_items;
}
