/* check_md: a check as one page of Markdown for a design review: findings first, then which
 * families of locks held, what broke under which fault, how often and for how long, what fencing
 * would have saved, recovery beside theory, and what all that rests on. Cells that kept their
 * claims are counted, not listed; the page and CSV have each. */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/check/check_parts.h"
#include "report/check/check_sums.h"
#include "report/doc/escape.h"

#define FINDINGS_MAX 8
#define SILENT_MAX 4
#define NAMES_SHOWN 4
#define BACKENDS_MAX 16
#define SERVERS_MAX 12
#define SKIPS_MAX 3
#define RECOVERIES_MAX 5

static void put_or(FILE *out, const char *text, const char *other) {
    escape_md(out, text ? text : other);
}

static void write_words(FILE *out, const struct words *words) {
    for (int i = 0; i < words->count; i++) {
        const struct words_line *line = &words->lines[i];
        const char *mark = line->tone == TONE_BAD    ? "❌ "
                           : line->tone == TONE_WARN ? "⚠️ "
                           : line->tone == TONE_GOOD ? "✅ "
                                                     : "";
        fprintf(out, "%s%s", i == words->headline ? "**" : "", mark);
        escape_md(out, line->text);
        fprintf(out, "%s  \n", i == words->headline ? "**" : "");
    }
    fputc('\n', out);
}

/* A finding in one item: what, how often, recovery, stale writes, how to see it again. */
static void write_cell(FILE *out, const struct check_view *view, const struct check_cell *cell) {
    char *text = check_cell_sentence(view, cell), *recovery = check_recovery_sentence(cell),
         *store = check_store_sentence(cell);
    fputs("- ", out);
    put_or(out, text, check_verdict_name(cell->verdict));
    if (recovery && *recovery) {
        fputs("; ", out);
        escape_md(out, recovery);
    }
    if (store && *store) {
        fputs("; ", out);
        escape_md(out, store);
    }
    if (cell->command) {
        fputs(". Again: ", out);
        escape_md(out, cell->command);
    }
    fputc('\n', out);
    free(text);
    free(recovery);
    free(store);
}

static void write_findings(FILE *out, const struct check_view *view) {
    for (int i = 0; i < view->finding_count && i < FINDINGS_MAX; i++)
        write_cell(out, view, view->finding[i]);
    for (int i = 0; i < view->silent_count && i < SILENT_MAX; i++)
        write_cell(out, view, view->silent[i]);
    int left = (view->finding_count > FINDINGS_MAX ? view->finding_count - FINDINGS_MAX : 0) +
               (view->silent_count > SILENT_MAX ? view->silent_count - SILENT_MAX : 0);
    if (left > 0)
        fprintf(out, "- and %d more: see report.html, or `lockbench report --csv`\n", left);
    if (view->finding_count + view->silent_count > 0) fputc('\n', out);
}

static void write_families(FILE *out, const struct check_view *view) {
    fputs(
        "| locks | how many | cells | safe | expired | stuck | violated | no verdict | worse than claimed |\n"
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|\n",
        out);
    for (int f = 0; f < FAMILIES; f++) {
        const struct check_counts *counts = &view->families[f];
        const char *bold = counts->worse && f != FAMILY_CONTROL ? "**" : "";
        if (counts->cells == 0) continue;
        const int *seen = counts->verdict;
        fprintf(out, "| %s | %d | %d | %d | %d | %d | %d | %d | %s%d%s |\n",
                check_family_title((enum check_family)f), view->locks[f], counts->cells,
                seen[CHECK_SAFE], seen[CHECK_EXPIRED], seen[CHECK_STUCK], seen[CHECK_VIOLATED],
                seen[CHECK_INCONCLUSIVE] + seen[CHECK_FAILED], bold, counts->worse, bold);
    }
    fputc('\n', out);
}

/* The locks that are worse than they claim, by name. */
static int write_worse(FILE *out, const struct check_view *view, int fault) {
    int named = 0, worse = 0;
    for (int r = 0; r < view->row_count; r++) {
        const struct check_cell *cell = check_view_cell(view, view->row[r], fault);
        if (!cell || cell->compared != CHECK_WORSE || check_lock_of(view, cell)->control) continue;
        if (!check_broke(cell) || worse++ >= NAMES_SHOWN) continue;
        fputs(named++ ? ", **" : " **", out);
        escape_md(out, check_lock_of(view, cell)->name);
        fprintf(out, "** (%s)", check_verdict_name(cell->verdict));
    }
    if (worse > NAMES_SHOWN) fprintf(out, " and **%d more**", worse - NAMES_SHOWN);
    return worse;
}

/* "25 expired (redis, etcd)": the others that broke in the same way, by backend. */
static int write_claimed(FILE *out, const struct check_view *view, int fault,
                         enum check_verdict verdict, const char *separator) {
    const char *backends[BACKENDS_MAX];
    int backend_count = 0, count = 0;
    for (int r = 0; r < view->row_count; r++) {
        const struct check_cell *cell = check_view_cell(view, view->row[r], fault);
        if (!cell || cell->verdict != verdict || cell->compared == CHECK_WORSE) continue;
        const struct check_lock *lock = check_lock_of(view, cell);
        bool seen = !lock->backend || backend_count == BACKENDS_MAX;
        if (lock->control) continue;
        count++;
        for (int b = 0; b < backend_count && !seen; b++)
            seen = strcmp(backends[b], lock->backend) == 0;
        if (!seen) backends[backend_count++] = lock->backend;
    }
    if (count == 0) return 0;
    fprintf(out, "%s%d %s", separator, count, check_verdict_name(verdict));
    for (int b = 0; b < backend_count; b++) {
        fputs(b == 0 ? " (" : ", ", out);
        escape_md(out, backends[b]);
    }
    if (backend_count > 0) fputc(')', out);
    return count;
}

static void write_names(FILE *out, const struct check_view *view, int fault) {
    static const enum check_verdict order[] = {CHECK_VIOLATED, CHECK_STUCK, CHECK_EXPIRED};
    int written = write_worse(out, view, fault);
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        written += write_claimed(out, view, fault, order[i], written ? "; " : " ");
}

/* One line a fault under which a real lock broke. */
static void write_broken(FILE *out, const struct check_view *view) {
    char a[NUMBER_TEXT_MAX], b[NUMBER_TEXT_MAX];
    bool any = false;
    for (int c = 0; c < view->column_count; c++) {
        struct check_sums sums;
        check_sum_fault(view, view->column[c], &sums);
        if (sums.broke == 0) continue;
        if (!any)
            fputs(
                "| under | held | broke | overlaps in grants | stale writes: accepted unfenced / rejected "
                "fenced | longest without any grant |\n|---|--:|---|--:|--:|--:|\n",
                out);
        any = true;
        fputs("| ", out);
        escape_md(out, view->check->faults[view->column[c]].name);
        fprintf(out, " | %d of %d |", sums.safe, sums.judged);
        write_names(out, view, view->column[c]);
        fprintf(out, " | %s in %s |", number_count_text(sums.overlaps, a),
                number_count_text(sums.grants, b));
        fprintf(out, " %s / %s |", number_count_text(sums.stale_accepted, a),
                number_count_text(sums.stale_rejected, b));
        fprintf(out, " %s |\n", number_time_text(sums.unavailable_max, a));
    }
    if (any) fputs(view->finding_count > 0 ? "\nBold: worse than the lock claims.\n\n" : "\n", out);
}

static void write_fencing(FILE *out, const struct check_view *view) {
    struct check_sums sums;
    char a[NUMBER_TEXT_MAX], b[NUMBER_TEXT_MAX], c[NUMBER_TEXT_MAX];
    check_sum_all(view, &sums);
    if (!(sums.stale_attempted > 0)) return;
    fprintf(
        out,
        "**Fencing**: of %s stale writes the store without fencing accepted %s; with it, where the lock has "
        "a token, it rejected %s. ",
        number_count_text(sums.stale_attempted, a), number_count_text(sums.stale_accepted, b),
        number_count_text(sums.stale_rejected, c));
    if (sums.broke_without_token > 0)
        fprintf(out, "%d lock%s broke and ha%s no token: nothing saves the data there.",
                sums.broke_without_token, sums.broke_without_token == 1 ? "" : "s",
                sums.broke_without_token == 1 ? "s" : "ve");
    fputs("\n\n", out);
}

static void write_recovery_cell(FILE *out, const struct check_recovery *recovery) {
    char range[CHECK_RANGE_MAX], text[NUMBER_TEXT_MAX];
    if (!(recovery->trials > 0) && recovery->never == 0) {
        fputs(" " NUMBER_NONE " |", out);
        return;
    }
    if (recovery->trials > 0) {
        fprintf(out, " %s, n = %s", check_range_text(recovery->min, recovery->max, range),
                number_count_text(recovery->trials, text));
    }
    if (recovery->never > 0)
        fprintf(out, "%s%d never", recovery->trials > 0 ? "; " : " ", recovery->never);
    if (isfinite(recovery->theory_max))
        fprintf(out, " (%s)", check_range_text(recovery->theory_min, recovery->theory_max, range));
    fputs(" |", out);
}

/* Fastest and slowest of all trials: ranges may be put together, percentiles may not. */
static void write_recovery(FILE *out, const struct check_view *view) {
    const char *backends[BACKENDS_MAX];
    int faults[RECOVERIES_MAX];
    int backend_count = check_backends(view, backends, BACKENDS_MAX);
    int fault_count = check_recovery_faults(view, faults, RECOVERIES_MAX);
    if (fault_count == 0) return;
    fputs("| recovery, measured (theory) |", out);
    for (int f = 0; f < fault_count; f++) {
        fputc(' ', out);
        escape_md(out, view->check->faults[faults[f]].name);
        fputs(" |", out);
    }
    fputs("\n|---|", out);
    for (int f = 0; f < fault_count; f++) fputs("---|", out);
    fputc('\n', out);
    for (int b = 0; b < backend_count; b++) {
        struct check_recovery recovery[RECOVERIES_MAX];
        bool any = false;
        for (int f = 0; f < fault_count; f++) {
            check_recovery_of(view, backends[b], faults[f], &recovery[f]);
            any |= recovery[f].trials > 0 || recovery[f].never > 0;
        }
        if (!any) continue;
        fputs("| ", out);
        escape_md(out, backends[b]);
        fputs(" |", out);
        for (int f = 0; f < fault_count; f++) write_recovery_cell(out, &recovery[f]);
        fputc('\n', out);
    }
    fputc('\n', out);
}

static const char *environment_text(const struct check *check, const char *key) {
    return json_string_value(json_object_get(check->environment, key));
}

/* Servers with their versions and durability, each once. */
static void write_servers(FILE *out, const struct check_view *view) {
    const struct check *check = view->check;
    const char *separator = "- Servers and their durability: ";
    int count = 0;
    for (int i = 0; i < check->cell_count && count < SERVERS_MAX; i++) {
        const struct check_cell *cell = &check->cells[i];
        bool seen = !cell->server;
        for (int j = 0; j < i && !seen; j++) seen = check_same_server(&check->cells[j], cell);
        if (seen) continue;
        count++;
        fputs(separator, out);
        escape_md(out, cell->server);
        if (cell->durability) {
            fputs(" (", out);
            escape_md(out, cell->durability);
            fputc(')', out);
        }
        separator = "; ";
    }
    if (*separator == ';') fputc('\n', out);
}

/* How many, and the reasons of the first. */
static void write_skips(FILE *out, const struct check *check) {
    if (check->skip_count == 0) return;
    fprintf(out, "- Left out: %d", check->skip_count);
    for (int i = 0; i < check->skip_count && i < SKIPS_MAX; i++) {
        const struct check_skip *skip = &check->skips[i];
        fputs(i == 0 ? ": " : "; ", out);
        put_or(out, skip->lock ? skip->lock : skip->backend, "?");
        if (skip->fault) {
            fputs(" under ", out);
            escape_md(out, skip->fault);
        }
        fputs(" (", out);
        put_or(out, skip->reason, "no reason given");
        fputc(')', out);
    }
    fputs(check->skip_count > SKIPS_MAX ? "; ...\n" : "\n", out);
}

static void write_foot(FILE *out, const struct check_view *view) {
    const struct check *check = view->check;
    struct check_sums sums;
    char text[NUMBER_TEXT_MAX];
    check_sum_all(view, &sums);
    fputs("- Run: ", out);
    put_or(out, check->command, "lockbench check");
    fputs(", ", out);
    put_or(out, check->tool_name, "lockbench");
    fputc(' ', out);
    put_or(out, check->tool_version, "of an unknown version");
    fputs(", ", out);
    put_or(out, check->started_at, "undated");
    fputs(" to ", out);
    put_or(out, check->ended_at, "its end");
    if (check->seeds) {
        char *seeds = json_dumps(check->seeds, JSON_COMPACT);
        if (seeds) fprintf(out, ", seeds %.*s", (int)strlen(seeds) - 2, seeds + 1);
        free(seeds);
    }
    fputc('\n', out);
    write_servers(out, view);
    write_skips(out, check);
    const json_t *cpus = json_object_get(check->environment, "cpus");
    fputs("- Machine: ", out);
    put_or(out, environment_text(check, "cpu_model"), "processor not known");
    if (json_is_integer(cpus))
        fprintf(out, ", %" JSON_INTEGER_FORMAT " processors", json_integer_value(cpus));
    fputs(", ", out);
    put_or(out, environment_text(check, "kernel"), "kernel not known");
    fputc('\n', out);
    fprintf(
        out,
        "- Safe means: none seen in n grants. With 95 %% confidence fewer than 3 in n would go wrong under "
        "this fault and load; the safe cells' n is %s at the least",
        number_count_text(sums.safe_grants_min, text));
    if (sums.safe_grants_min > 0) fprintf(out, " (bound %.1e)", 3 / sums.safe_grants_min);
    fputs(".\n", out);
}

int check_write_md(const struct check_view *view, FILE *out, struct lb_err *err) {
    struct words *words = check_words_make(view, err);
    if (!words) return -1;
    fputs("## lockbench check: which locks are locks\n\n", out);
    write_words(out, words);
    words_free(words);
    write_findings(out, view);
    if (view->row_count > 0) {
        write_families(out, view);
        write_broken(out, view);
        write_fencing(out, view);
        write_recovery(out, view);
    }
    write_foot(out, view);
    return 0;
}
