/* cmd_judge: `lockbench judge FILE...|RUN...`: judges saved histories again, and prints the verdict
 * and the operations that contradict each other. It reads files only. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bench/cli/cli.h"
#include "bench/oplog/explain.h"

struct wish {
    struct arg_list names;
};

static const struct arg args[] = {
    {{"", ARG_LIST, offsetof(struct wish, names), .help = NULL}, "FILE"},
    {{0}, NULL},
};

static void print_line(const struct oplog_rules *rules, const struct oplog_line *line) {
    printf("  %12.6f .. %12.6f s  client %u  key %u  %s%s: %s",
           (double)(line->begin_ns - rules->begin_ns) / 1e9,
           (double)(line->end_ns - rules->begin_ns) / 1e9, line->client, line->key, line->op,
           line->shared ? " (shared)" : "", line->outcome);
    if (line->token) printf("  token %llu", (unsigned long long)line->token);
    if (line->lease_end_ns != LB_NEVER) {
        printf("  lease ends at %.6f s", (double)(line->lease_end_ns - rules->begin_ns) / 1e9);
    }
    printf("%s%s\n", line->note[0] ? "  " : "", line->note);
}

static void print_judgement(const char *path, const struct oplog_file *file,
                            const struct book *book, const struct judgement *judgement) {
    const struct oplog_rules *rules = &book->rules;
    printf("%s: %s, %s of %u clients: %s\n", path, file->header.lock,
           oplog_model_name((enum oplog_model)rules->model), rules->clients,
           verdict_name(oplog_verdict_of(judgement->verdict)));
    printf("  %llu operations; %llu violations, %llu past leases or sessions, %llu token errors, "
           "%llu granted out of order",
           (unsigned long long)book->ops, (unsigned long long)judgement->violations,
           (unsigned long long)judgement->expired, (unsigned long long)judgement->token_errors,
           (unsigned long long)judgement->inversions);
    if (judgement->busy_judged) {
        printf(", %llu busy for no reason", (unsigned long long)judgement->spurious_busy);
    }
    printf("\n");
    if (book->dropped > 0) {
        printf("  %llu operations found no room and are missing\n",
               (unsigned long long)book->dropped);
    }
    if (!book->whole)
        printf("  the history was cut off: grants that were open at its end count as released\n");
    if (judgement->clash == CLASH_NONE) return;
    struct hold witness[OPLOG_WITNESSES];
    struct oplog_line lines[EXPLAIN_LINES];
    for (int i = 0; i < judgement->witness_count; i++)
        witness[i] = book->holds[judgement->witness[i]];
    int count = oplog_explain(rules, judgement, witness, lines);
    printf("  operations that contradict each other (times in seconds from the window's begin):\n");
    for (int i = 0; i < count; i++) print_line(rules, &lines[i]);
}

/* Raises *worst to the verdict of this file. 0, or -1 with err. */
static int judge_file(const char *path, enum oplog_verdict *worst, struct lb_err *err) {
    struct oplog_file file;
    struct book book = {0};
    struct judgement judgement = {0};
    if (oplog_open(&file, path, err) != 0) return -1;
    int failed = book_begin(&book, &file.header.rules, err);
    if (!failed) failed = book_add_file(&book, &file, err);
    if (!failed) {
        book_end(&book, file.header.dropped, file.header.whole);
        failed = oplog_judge(&book, &judgement, NULL, err);
    }
    if (!failed) {
        print_judgement(path, &file, &book, &judgement);
        if (judgement.verdict > *worst) *worst = judgement.verdict;
    }
    book_done(&book);
    oplog_close(&file);
    return failed;
}

static int is_history(const struct dirent *entry) {
    size_t len = strlen(entry->d_name);
    return len > 8 && strcmp(entry->d_name + len - 8, ".history") == 0;
}

#define CELLS_SHOWN 3

static bool has_history(const char *folder) {
    struct dirent **entries;
    int count = scandir(folder, &entries, is_history, NULL);
    for (int i = 0; i < count; i++) free(entries[i]);
    if (count >= 0) free(entries);
    return count > 0;
}

/* Writes the folders of a check's cells that have a history: "CHECK/cells/X, CHECK/cells/Y and 7 more". Returns their
 * number; 0 = the folder is no check's. */
static int name_cells(const char *folder, char *text, size_t size) {
    char cells[PATH_MAX], cell[PATH_MAX];
    struct dirent **entries;
    int found = 0;
    size_t used = 0;
    snprintf(cells, sizeof cells, "%s/cells", folder);
    int count = scandir(cells, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        int len = snprintf(cell, sizeof cell, "%s/%s", cells, entries[i]->d_name);
        bool dots = entries[i]->d_name[0] == '.';
        free(entries[i]);
        if (dots || len < 0 || (size_t)len >= sizeof cell || !has_history(cell)) continue;
        if (found++ < CELLS_SHOWN && used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%.200s", used ? ", " : "", cell);
    }
    if (count >= 0) free(entries);
    if (found > CELLS_SHOWN && used < size)
        snprintf(text + used, size - used, " and %d more", found - CELLS_SHOWN);
    return found;
}

static int lacks_histories(const char *folder, struct lb_err *err) {
    char cells[CELLS_SHOWN * 202 + 40];
    if (name_cells(folder, cells, sizeof cells) > 0)
        return err_set(err, LB_EXIT_USAGE, "%s is a check: judge one of its cells, %s", folder,
                       cells);
    return err_set(err, LB_EXIT_USAGE, "%s has no history; runs with check.history = yes have",
                   folder);
}

/* Judges all histories of the folder, also when one of them can't be read: then -1, with the err of the first such. */
static int judge_folder(const char *path, enum oplog_verdict *worst, struct lb_err *err) {
    struct dirent **entries;
    int count = scandir(path, &entries, is_history, alphasort), failed = 0;
    if (count < 0) return err_set(err, LB_EXIT_USAGE, "cannot read %s: %s", path, strerror(errno));
    if (count == 0) failed = lacks_histories(path, err);
    for (int i = 0; i < count; i++) {
        struct lb_err why = {0};
        char *file = NULL;
        if (asprintf(&file, "%s/%s", path, entries[i]->d_name) < 0) {
            file = NULL;
            err_set(&why, LB_EXIT_MACHINE, "out of memory");
        } else {
            judge_file(file, worst, &why);
        }
        if (why.code && !failed) failed = err_set(err, why.code, "%s", why.text);
        free(file);
        free(entries[i]);
    }
    free(entries);
    return failed;
}

static int run_judge(void *values, const struct args *unused, struct lb_err *err) {
    const struct wish *wish = values;
    enum oplog_verdict worst = OPLOG_CLEAN;
    (void)unused;
    if (wish->names.count == 0)
        return err_set(err, LB_EXIT_USAGE,
                       "judge: which run, or which file? see lockbench judge --help");
    for (int i = 0; i < wish->names.count; i++) {
        const char *name = wish->names.item[i];
        struct stat about;
        bool folder = stat(name, &about) == 0 && S_ISDIR(about.st_mode);
        if ((folder ? judge_folder : judge_file)(name, &worst, err) != 0) return -1;
    }
    return worst == OPLOG_CLEAN ? LB_EXIT_OK : LB_EXIT_VIOLATED;
}

static const struct example examples[] = {
    {"lockbench judge results/latest", "judge every history of the newest run again"},
    {NULL, NULL},
};

const struct command command_judge = {
    .name = "judge",
    .summary = "judge saved histories again: what contradicts what",
    .usage = "judge FILE...|RUN...",
    .about =
        "Judges histories (NNN-....history; runs with check.history = yes leave them) again: verdict,\n"
        "counts, and the few operations that contradict each other.",
    .examples = examples,
    .args = args,
    .bytes = sizeof(struct wish),
    .run = run_judge,
};
