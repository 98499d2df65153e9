/* fuzz_run: run.json from anywhere: an error in one line, or a run whose every figure and text
 * can be asked for. */
#include <math.h>

#include "bench/tests/fuzz/fuzz.h"
#include "results/format/run_read.h"

static void use_stage(const struct run_stage *stage) {
    for (const struct result_field *field = run_stage_fields(); field->path; field++) {
        if (field->kind == RESULT_TEXT) {
            const char *text = result_field_text(field, stage);
            if (text && strlen(text) > 1u << 30) abort();
        } else if (result_field_is_figure(field)) {
            double figure = result_field_figure(field, stage);
            bool sound = isfinite(figure) && (figure >= 0 || field->kind == RESULT_SIGNED);
            if (!isnan(figure) && !sound) abort();
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct lb_err err = {0};
    struct run *run = run_parse((const char *)data, size, "run.json", &err);
    if (!run) expect_reason(&err);
    for (int i = 0; run && i < run->stage_count; i++) use_stage(&run->stages[i]);
    run_free(run);
    return 0;
}
