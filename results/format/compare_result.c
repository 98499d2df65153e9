/* compare_result: see compare_result.h. */
#include "results/format/compare_result.h"

#include "results/format/field.h"
#include "results/format/write.h"

const char *compare_word(enum compare_verdict verdict) {
    static const char *const words[] = {"unknown", "not judged",   "no change shown",
                                        "better",  "inconclusive", "worse"};
    return words[verdict];
}

#define FIGURE(kind, member, path, ...) ROW(compare_result_figure, kind, member, path, __VA_ARGS__)

static const struct result_field figure_fields[] = {
    FIGURE(
        TEXT, verdict, "verdict",
        .words = "no change shown, better, inconclusive, worse, not judged",
        .help =
            "the verdict of the samples on a change of at least min_effect; not judged: --metric names other figures"),
    NO_MEMBER(OBJECT, "base", .help = "the figure on the base's side"),
    FIGURE(REAL_OR_NEVER, base.median, "base.median", .help = "the median of its samples"),
    FIGURE(NUMBERS_OR_NEVER, base.values, "base.values", .help = "the samples"),
    NO_MEMBER(OBJECT, "new", .help = "the figure on the new side"),
    FIGURE(REAL_OR_NEVER, new.median, "new.median", .help = "the median of its samples"),
    FIGURE(NUMBERS_OR_NEVER, new.values, "new.values", .help = "the samples"),
    FIGURE(SIGNED, shift, "shift",
           .help = "new against base, 0.05 = 5 % more; null: to never, or from 0"),
    FIGURE(SIGNED, low, "low", .help = "begin of its interval; null: without limit"),
    FIGURE(SIGNED, high, "high", .help = "end of its interval; null: without limit"),
    FIGURE(REAL, p, "p",
           .help = "p of Mann and Whitney's test, corrected by Holm over all judged figures"),
    {.path = NULL},
};

#define LOAD(kind, member, path, ...) ROW(compare_result_row, kind, member, path, __VA_ARGS__)

static const struct result_field row_fields[] = {
    LOAD(TEXT, lock, "lock", .help = "name of the lock"),
    LOAD(TEXT, load, "load", .help = "the load in words"),
    LOAD(COUNT, clients, "clients", .help = "number of clients"),
    LOAD(TEXT, base_guarantee, "base_guarantee",
         .help = "guarantee, topology and durability of the base's lock, in words"),
    LOAD(TEXT, new_guarantee, "new_guarantee", .help = "the same of the new one"),
    LOAD(COUNT, base_samples, "base_samples", .help = "number of samples of the base"),
    LOAD(COUNT, new_samples, "new_samples", .help = "number of samples of the new side"),
    LOAD(COUNT, base_limited, "base_limited",
         .help = "stages of the base that are no samples: the load generator was their limit"),
    LOAD(COUNT, new_limited, "new_limited", .help = "the same of the new side"),
    LOAD(FLAG, violated, "violated",
         .help = "two clients of the new lock held at once, or its fencing tokens did not grow"),
    LOAD(FLAG, stuck, "stuck", .help = "the new lock left clients without a grant"),
    LOAD(COMPARED, figures, "figures", .items = figure_fields,
         .help = "the figures that both sides have, by their names in `compare`"),
    {.path = NULL},
};

#define ROOT(kind, member, path, ...) ROW(compare_result, kind, member, path, __VA_ARGS__)

static const struct result_field root_fields[] = {
    ROOT(COUNT, exit_code, "exit_code", .help = "the exit code of `lockbench compare`"),
    ROOT(TEXT, samples_of, "samples_of", .words = "runs stages",
         .help = "what one sample is: a run; or a stage, where each side has one run"),
    ROOT(FLAG, partial, "partial", .help = "there are fewer runs than were wanted"),
    ROOT(TEXT, partial_reason, "partial_reason", .help = "why it is partial"),
    ROOT(COUNT, partial_runs, "partial_runs", .help = "incomplete runs of both sides"),
    ROOT(FLAG, violated, "violated",
         .help = "violated in a row, or for a lock that only the new runs have"),
    ROOT(REAL, min_effect, "min_effect", .help = "the least change that counts, 0.03 = 3 %"),
    ROOT(REAL, alpha, "alpha", .help = "the level of significance"),
    ROOT(TEXTS, differences, "differences",
         .help = "differences between the plans and environments of the two sides, a line for "
                 "each"),
    ROOT(TEXTS, only_one_side, "only_one_side",
         .help = "locks and loads that only one side has, a line for each"),
    ROOT(OBJECTS, rows, "rows", .items = row_fields,
         .help = "one for each lock and load that both sides have, in the order of the base's "
                 "stages"),
    {.path = NULL},
};

const struct result_document compare_document = {
    .name = "compare",
    .file = "compare.json",
    .schema = COMPARE_SCHEMA,
    .about = "The output of `lockbench compare --json`, and the compare.json of a run with "
             "`--against` or `--against-set`: two sets of runs, figure by figure.",
    .fields = root_fields,
};

json_t *compare_result_figure_json(const struct compare_result_figure *figure) {
    return result_fields_json(figure_fields, figure);
}

json_t *compare_result_row_json(const struct compare_result_row *row) {
    return result_fields_json(row_fields, row);
}

json_t *compare_result_json(const struct compare_result *result) {
    return result_document_json(&compare_document, result);
}
