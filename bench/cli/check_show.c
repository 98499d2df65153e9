/* check_show: see check_show.h. */
#include "bench/cli/check_show.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "bench/check/seen.h"

#define NAMED_MAX 8 /* columns; more of them have letters, and their names stand below */

#define RED "\033[31m"
#define GREEN "\033[32m"
#define YELLOW "\033[33m"
#define PLAIN "\033[0m"

static const char *fault_of(const struct matrix *matrix, const struct matrix_cell *cell) {
    return matrix->columns[cell->column].name;
}

static const char *words(const json_t *seen, const char *name) {
    const char *text = json_string_value(json_object_get(seen, name));
    return text ? text : "";
}

/* ---- while it runs ---- */

static bool is_trouble(enum check_verdict verdict) {
    return verdict == CHECK_FAILED || verdict == CHECK_INCONCLUSIVE;
}

void check_show_end(const struct check_show *show) {
    if (show->terminal) fprintf(stderr, "\r\033[K");
}

void check_show_news(void *arg, const struct tour_news *news) {
    const struct check_show *show = arg;
    const struct matrix *matrix = show->result->ask.matrix;
    enum check_verdict verdict = seen_verdict(news->seen);
    bool worse = matrix->columns[news->cell->column].fault != LB_SCENARIOS &&
                 seen_compare(verdict, news->cell->expected.worst) == CHECK_WORSE;
    const char *why = words(news->seen, "why");
    check_show_end(show);
    /* Piped, only what needs a look. */
    if (worse || is_trouble(verdict)) {
        fprintf(stderr, "lockbench: %s x %s, seed %llu: %s%s%s%s%s\n", news->cell->lock->name,
                fault_of(matrix, news->cell), (unsigned long long)news->seed,
                check_verdict_name(verdict), worse ? ", worse than expected" : "", *why ? ": " : "",
                why, news->again ? "; once more" : "");
    }
    if (!show->terminal) return;
    struct winsize window;
    char line[300];
    int columns = ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 ? window.ws_col : 80;
    snprintf(line, sizeof line, "%d of %d  %s x %s: %s (%.1f s)", news->done, news->known,
             news->cell->lock->name, fault_of(matrix, news->cell), check_verdict_name(verdict),
             (double)news->took_ns / 1e9);
    fprintf(stderr, "%.*s", columns > 1 ? columns - 1 : 79, line);
    fflush(stderr);
}

/* " x leader-kill, minority-lost": the faults that one lock is spared for this reason; others it
 * may meet. */
static void show_skipped_faults(const struct matrix *matrix, int first, FILE *out) {
    for (int i = first; i < matrix->skip_count; i++) {
        const struct matrix_skip *skip = &matrix->skips[i];
        if (!skip->fault || strcmp(skip->reason, matrix->skips[first].reason) != 0) continue;
        fprintf(out, "%s%s", i == first ? " x " : ", ", skip->fault);
    }
}

void check_show_skips(const struct matrix *matrix, FILE *out) {
    for (int i = 0; i < matrix->skip_count; i++) {
        const struct matrix_skip *skip = &matrix->skips[i];
        const struct lb_lock *last = skip->lock;
        bool said = false;
        int more = 0;
        if (!skip->unavailable) continue; /* it can't do what is asked: nothing is missing */
        for (int j = 0; j < matrix->skip_count; j++) {
            if (strcmp(matrix->skips[j].reason, skip->reason) != 0) continue;
            said |= j < i;
            more += j > i && matrix->skips[j].lock != last;
            if (j > i) last = matrix->skips[j].lock;
        }
        if (said) continue;
        fprintf(out, "lockbench: left out: %s", skip->lock->name);
        if (more > 0) fprintf(out, " and %d more", more);
        if (more == 0 && skip->fault) show_skipped_faults(matrix, i, out);
        fprintf(out, ": %s%s%s\n", skip->reason, skip->install ? "; install: " : "",
                skip->install ? skip->install : "");
    }
}

void check_show_plan(const struct matrix *matrix, const uint64_t *seeds, int seed_count,
                     FILE *out) {
    int64_t time_ns = 0;
    for (int i = 0; i < matrix->cell_count; i++) {
        const struct matrix_cell *cell = &matrix->cells[i];
        fprintf(out, "%-36s %-18s %-20s expected %-9s %s\n", cell->lock->name,
                fault_of(matrix, cell), cell->topology ? cell->topology : "embedded",
                lb_expect_name(cell->expected.worst), cell->expected.why ? cell->expected.why : "");
        time_ns += cell->time_ns;
    }
    for (int i = 0; i < matrix->skip_count; i++) {
        const struct matrix_skip *skip = &matrix->skips[i];
        fprintf(out, "%-36s %-18s left out: %s%s%s\n", skip->lock->name,
                skip->fault ? skip->fault : "all", skip->reason, skip->install ? "; install: " : "",
                skip->install ? skip->install : "");
    }
    fprintf(out, "%d cells, %d runs, from seed %llu; one after the other at most %.0f s of load\n",
            matrix->cell_count, matrix->cell_count * seed_count, (unsigned long long)seeds[0],
            (double)time_ns / 1e9 * seed_count);
}

/* ---- the matrix ---- */

static const char *sign_of(const struct result_cell *cell) {
    static const char *const signs[CHECK_VERDICTS] = {
        [CHECK_SAFE] = ".",     [CHECK_EXPIRED] = "E",      [CHECK_STUCK] = "S",
        [CHECK_VIOLATED] = "V", [CHECK_INCONCLUSIVE] = "?", [CHECK_FAILED] = "x"};
    return cell->seen ? signs[cell->verdict] : "-";
}

static const char *mark_of(const struct result_cell *cell) {
    if (cell->missed) return "!";
    if (!cell->seen) return " ";
    return cell->compared == CHECK_WORSE ? "!" : cell->compared == CHECK_BETTER ? "+" : " ";
}

static const char *color_of(const struct result_cell *cell) {
    if (cell->missed || (cell->seen && cell->compared == CHECK_WORSE)) return RED;
    if (cell->seen && is_trouble(cell->verdict)) return YELLOW;
    return cell->seen && cell->compared == CHECK_BETTER ? GREEN : "";
}

static int width_of(const struct matrix *matrix, int column) {
    int len = (int)strlen(matrix->columns[column].name);
    return matrix->column_count > NAMED_MAX ? 3 : len > 4 ? len + 1 : 5;
}

static char letter_of(int column) {
    return (char)(column < 26 ? 'a' + column : 'A' + column - 26);
}

static void show_head(const struct matrix *matrix, int names, FILE *out) {
    fprintf(out, "%-*s", names, "");
    for (int c = 0; c < matrix->column_count; c++) {
        if (matrix->column_count > NAMED_MAX) {
            fprintf(out, " %c ", letter_of(c));
        } else {
            fprintf(out, " %-*s", width_of(matrix, c) - 1, matrix->columns[c].name);
        }
    }
    fputc('\n', out);
}

/* One lock's cells, from `at` on. Returns where the next lock's begin. */
static int show_row(const struct result *result, int at, int names, bool color, FILE *out) {
    const struct matrix *matrix = result->ask.matrix;
    const struct lb_lock *lock = matrix->cells[at].lock;
    fprintf(out, "%-*s", names, lock->name);
    for (int c = 0; c < matrix->column_count; c++) {
        bool mine = at < matrix->cell_count && matrix->cells[at].lock == lock &&
                    matrix->cells[at].column == c;
        int rest = width_of(matrix, c) - 3;
        if (!mine) {
            fprintf(out, "   %*s", rest, "");
            continue;
        }
        const struct result_cell *cell = &result->cells[at++];
        const char *paint = color ? color_of(cell) : "";
        fprintf(out, " %s%s%s%s%*s", paint, sign_of(cell), mark_of(cell), *paint ? PLAIN : "", rest,
                "");
    }
    fputc('\n', out);
    return at;
}

static void show_matrix(const struct result *result, bool color, FILE *out) {
    const struct matrix *matrix = result->ask.matrix;
    int names = 0;
    for (int i = 0; i < matrix->cell_count; i++) {
        int len = (int)strlen(matrix->cells[i].lock->name);
        names = len > names ? len : names;
    }
    show_head(matrix, names + 1, out);
    for (int at = 0; at < matrix->cell_count;) at = show_row(result, at, names + 1, color, out);
    fprintf(out,
            "\n.  safe   E expired   S stuck   V violated   ? inconclusive   x failed   - not run\n"
            "!  worse than the driver states, or a control that was not caught   + better\n");
    for (int c = 0; matrix->column_count > NAMED_MAX && c < matrix->column_count; c++) {
        fprintf(out, "%c  %-18s %s\n", letter_of(c), matrix->columns[c].name,
                matrix->columns[c].summary);
    }
}

/* ---- the findings ---- */

static void show_line(const struct result *result, int index, const char *title, FILE *out) {
    const struct matrix *matrix = result->ask.matrix;
    const struct matrix_cell *of = &matrix->cells[index];
    const struct result_cell *cell = &result->cells[index];
    const char *why = words(cell->seen, "why");
    fprintf(out, "%s %s x %s: %s", title, of->lock->name, fault_of(matrix, of),
            check_verdict_name(cell->verdict));
    if (*why) fprintf(out, " (%s)", why);
    fprintf(out, "; expected %s", lb_expect_name(of->expected.worst));
    if (of->expected.why) fprintf(out, ": %s", of->expected.why);
    fputc('\n', out);
    if (strcmp(title, "better") == 0) return;
    fprintf(out, "       again: lockbench check %s --fault %s --seed %lld%s   evidence: %s\n",
            of->lock->name, fault_of(matrix, of),
            (long long)json_integer_value(json_object_get(cell->seen, "seed")),
            result->ask.more ? result->ask.more : "", words(cell->seen, "run"));
}

static void show_findings(const struct result *result, FILE *out) {
    const char *const titles[] = {"WORSE ", "MISSED", "failed", "better"};
    for (int kind = 0; kind < 4; kind++) {
        for (int i = 0; i < result->ask.matrix->cell_count; i++) {
            const struct result_cell *cell = &result->cells[i];
            if (!cell->seen) continue;
            const bool is[] = {result_is_finding(result, i), cell->missed,
                               is_trouble(cell->verdict),
                               cell->compared == CHECK_BETTER && !cell->missed};
            if (is[kind]) show_line(result, i, titles[kind], out);
        }
    }
}

void check_show_result(const struct result *result, bool color, FILE *out) {
    struct result_sum sum = result_sum(result);
    show_matrix(result, color, out);
    fputc('\n', out);
    show_findings(result, out);
    fprintf(out, "%d cells:", sum.tried);
    const char *comma = "";
    for (int i = 0; i < CHECK_VERDICTS; i++) {
        if (sum.verdicts[i] == 0) continue;
        fprintf(out, "%s %d %s", comma, sum.verdicts[i], check_verdict_name((enum check_verdict)i));
        comma = ",";
    }
    fprintf(out, "; %d as expected, %d worse, %d better", sum.as_expected, sum.worse, sum.better);
    if (sum.missed > 0) fprintf(out, ", %d controls not caught", sum.missed);
    if (sum.failed > 0) fprintf(out, "; %d with runs that failed or showed nothing", sum.failed);
    fputc('\n', out);
}
