/* planned: see planned.h. */
#include "bench/run/planned.h"

#include <stdlib.h>

#include "bench/run/stage.h"
#include "bench/workload/stages.h"

struct run *planned_run(const struct plan *plan, struct lb_err *err) {
    int count = 0;
    struct plan_stage *stages = stages_new(plan, &count);
    struct run *run = calloc(1, sizeof *run);
    bool failed = !stages || !run;
    if (!failed) {
        run->root = json_array();
        run->stages = calloc((size_t)count + 1, sizeof *run->stages);
        failed = !run->root || !run->stages;
    }
    for (int i = 0; i < count && !failed; i++) {
        struct run_stage *stage = &run->stages[run->stage_count++];
        stage_describe_planned(stage, &stages[i]);
        /* The run's root owns everything that its stages borrow. */
        failed = !stage->kept || json_array_append_new(run->root, stage->kept) != 0;
        stage->kept = NULL;
    }
    free(stages);
    if (!failed) return run;
    run_free(run);
    err_set(err, LB_EXIT_MACHINE, "out of memory");
    return NULL;
}
