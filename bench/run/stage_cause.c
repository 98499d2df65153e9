/* stage_cause: see stage_cause.h. */
#include "bench/run/stage_cause.h"

#include <math.h>
#include <string.h>

#include "bench/option/option.h"

static const struct result_field *field_of(const char *path) {
    const struct result_field *field = run_stage_fields();
    while (field->path && strcmp(field->path, path) != 0) field++;
    return field->path ? field : NULL;
}

static bool is_beyond(const struct lb_known_cause *cause, double figure) {
    if (isnan(figure)) return false;
    return (cause->above > 0 && figure > cause->above) ||
           (cause->below > 0 && figure < cause->below);
}

/* Whether the option has the value under which the cause works. */
static bool is_so_set(const struct lb_known_cause *cause, const struct plan_lock *lock) {
    char text[64];
    if (!cause->value) return true;
    const struct lb_option *option = options_find(lock->lock->algorithm->options, cause->option);
    return option &&
           strcmp(option_text(option, lock->options, text, sizeof text), cause->value) == 0;
}

/* Whether clients met each other and nothing but the lock came between them: a fault may have made any
 * figure what it is. */
static bool may_tell(const struct run_stage *result) {
    return result->tested_grants > 0 && json_array_size(result->faults) == 0;
}

json_t *stage_causes(const struct run_stage *result, const struct plan_lock *lock) {
    json_t *texts = json_array();
    const struct lb_known_cause *cause = lock->lock->algorithm->causes;
    for (; texts && may_tell(result) && cause && cause->figure; cause++) {
        const struct result_field *field = field_of(cause->figure);
        if (!field || !is_beyond(cause, result_field_figure(field, result))) continue;
        if (!is_so_set(cause, lock)) continue;
        json_array_append_new(texts,
                              json_sprintf("%s: known cause: %s%s%s%s", field->title, cause->cause,
                                           cause->option ? "; the option " : "",
                                           cause->option ? cause->option : "",
                                           cause->option ? " changes it" : ""));
    }
    return texts;
}
