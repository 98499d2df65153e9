/* check_csv: one row a cell, with what its lock is, and every scalar under its path in check.json;
 * by RFC
 * 4180. The evidence (operations, holds, trials) is left to the other outputs. */
#include "report/check/check_parts.h"
#include "report/doc/escape.h"

static void put(FILE *out, const char *text) {
    fputc(',', out);
    if (text) escape_csv(out, text);
}

int check_write_csv(const struct check_view *view, FILE *out, struct lb_err *err) {
    (void)err;
    const struct check *check = view->check;
    fputs("check,started_at,backend,primitive,guarantee,crash,token,control,recovered", out);
    for (const struct result_field *field = check_cell_fields(); field->path; field++)
        fprintf(out, ",%s", field->path);
    fputs("\r\n", out);
    for (int i = 0; i < check->cell_count; i++) {
        const struct check_cell *cell = &check->cells[i];
        const struct check_lock *lock = check_lock_of(view, cell);
        escape_csv(out, check->path);
        put(out, check->started_at);
        put(out, lock->backend);
        put(out, lock->primitive);
        put(out, lock->guarantee);
        put(out, lock->crash);
        put(out, lock->token ? "true" : "false");
        put(out, lock->control ? "true" : "false");
        put(out, cell->recovered > 0 ? "true" : cell->recovered == 0 ? "false" : NULL);
        for (const struct result_field *field = check_cell_fields(); field->path; field++) {
            fputc(',', out);
            escape_csv_field(out, field, cell);
        }
        fputs("\r\n", out);
    }
    return 0;
}
