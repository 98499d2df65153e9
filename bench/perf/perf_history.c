/* perf_history: how long the judge of histories takes for ten million operations, and how much
 * memory. */
#include <stdio.h>

#include "bench/base/rng.h"
#include "bench/oplog/judge.h"
#include "bench/perf/perf.h"

#define OPERATIONS 10000000
#define KEYS 1000
#define CLIENTS 64

/* Grants of many keys, one after the other, with leases and tokens, in the order of their files. */
static int write_history(FILE *out) {
    struct oplog_header header = {.magic = OPLOG_MAGIC,
                                  .version = 1,
                                  .byte_order = 0x01020304,
                                  .header_bytes = sizeof header,
                                  .record_bytes = sizeof(struct oplog_record),
                                  .whole = 1,
                                  .rules = {.bound = 1, .clients = CLIENTS, .cut_ns = LB_NEVER}};
    static int64_t free_ns[KEYS];
    struct lb_rng rng;
    rng_seed(&rng, 1, 1);
    for (int i = 0; i < KEYS; i++) free_ns[i] = LB_S_NS;
    if (fwrite(&header, sizeof header, 1, out) != 1) return -1;
    for (int i = 0; i < OPERATIONS / 2; i++) {
        uint32_t key = (uint32_t)rng_below(&rng, KEYS), client = (uint32_t)rng_below(&rng, CLIENTS);
        int64_t from_ns = free_ns[key] + (int64_t)rng_below(&rng, 5000);
        int64_t to_ns = from_ns + (int64_t)rng_below(&rng, 1000);
        struct oplog_record pair[2] = {{.kind = OPLOG_ACQUIRE,
                                        .client = client,
                                        .key = key,
                                        .begin_ns = from_ns - LB_MS_NS,
                                        .end_ns = from_ns,
                                        .lease_end_ns = from_ns + LB_S_NS,
                                        .token = (uint64_t)i + 1},
                                       {.kind = OPLOG_RELEASE,
                                        .client = client,
                                        .key = key,
                                        .begin_ns = to_ns,
                                        .end_ns = to_ns + 500,
                                        .lease_end_ns = LB_NEVER}};
        free_ns[key] = to_ns;
        if (fwrite(pair, sizeof pair, 1, out) != 1) return -1;
    }
    return fflush(out);
}

static long peak_kb(void) {
    char line[128];
    long kb = -1;
    FILE *in = fopen("/proc/self/status", "r");
    while (in && fgets(line, sizeof line, in)) sscanf(line, "VmHWM: %ld", &kb);
    if (in) fclose(in);
    return kb;
}

int perf_history(struct lb_err *err) {
    char path[64];
    FILE *out = tmpfile();
    if (!out || write_history(out) != 0) {
        if (out) fclose(out);
        return err_set(err, LB_EXIT_MACHINE, "no room for a history of %d operations", OPERATIONS);
    }
    snprintf(path, sizeof path, "/proc/self/fd/%d", fileno(out));
    struct oplog_file file;
    struct book book = {0};
    struct judgement judgement = {0};
    int64_t begin_ns = lb_now();
    int failed = oplog_open(&file, path, err);
    fclose(out);
    if (failed) return -1;
    failed = book_begin(&book, &file.header.rules, err);
    if (!failed) failed = book_add_file(&book, &file, err);
    if (!failed) {
        book_end(&book, 0, true);
        failed = oplog_judge(&book, &judgement, NULL, err);
    }
    double took_s = (double)(lb_now() - begin_ns) / 1e9;
    book_done(&book);
    oplog_close(&file);
    if (failed) return -1;
    printf(
        "history of %d operations: %s in %.1f s, %ld MB at most   goal: within 60 s and 2,000 MB\n",
        OPERATIONS, verdict_name(oplog_verdict_of(judgement.verdict)), took_s, peak_kb() / 1024);
    return 0;
}
