/* fuzz_run: run.json from anywhere: an error in one line, or a run whose every figure, text and
 * histogram can be asked for. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "results/format/run_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use_stage(const struct run *run, const struct run_stage *stage) {
    for (const struct run_field *field = run_stage_fields(); field->path; field++) {
        if (field->kind == RUN_TEXT) {
            const char *text = run_stage_text(stage, field->offset);
            if (text && strlen(text) > 1u << 30) abort();
        } else if (field->kind == RUN_FIGURE) {
            double figure = run_stage_figure(stage, field->offset);
            if (!isnan(figure) && !(figure >= 0 && isfinite(figure))) abort();
        }
    }
    for (int m = 0; m < RUN_METRICS; m++) {
        struct lb_err err = {0};
        struct hist *hist = NULL;
        if (run_latency_hist(run, stage, (enum run_metric)m, &hist, &err) != 0 &&
            err.text[0] == '\0')
            abort();
        hist_free(hist);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct lb_err err = {0};
    struct run *run = run_parse((const char *)data, size, "run.json", &err);
    if (!run && (err.code == 0 || err.text[0] == '\0' || strchr(err.text, '\n'))) abort();
    for (int i = 0; run && i < run->stage_count; i++) use_stage(run, &run->stages[i]);
    run_free(run);
    return 0;
}
