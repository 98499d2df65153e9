/* cmd_check_judge: judges saved histories again, and prints the verdicts and the operations that
 * contradict each other. It reads files only. See check.h. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bench/oplog/judge.h"
#include "bench/tools/check/cmd_check.h"
#include "bench/workload/plan.h"

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

/* Judges all histories of the folder, also when one of them can't be read: then -1, with the err of the first such.
 * Returns their number. */
static int judge_files(const char *path, enum oplog_verdict *worst, struct lb_err *err) {
    struct dirent **entries;
    int count = scandir(path, &entries, is_history, alphasort), failed = 0;
    if (count < 0) return err_set(err, LB_EXIT_USAGE, "cannot read %s: %s", path, strerror(errno));
    for (int i = 0; i < count; i++) {
        struct lb_err why = {0};
        char file[PATH_MAX + NAME_MAX + 2];
        snprintf(file, sizeof file, "%s/%s", path, entries[i]->d_name);
        if (judge_file(file, worst, &why) != 0 && !failed)
            failed = err_set(err, why.code, "%s", why.text);
        free(entries[i]);
    }
    free(entries);
    return failed ? -1 : count;
}

static int is_no_dot(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

/* Judges a run, or each cell of a check. */
static int judge_folder(const char *path, enum oplog_verdict *worst, struct lb_err *err) {
    char cells[PATH_MAX];
    struct dirent **entries = NULL;
    int judged = judge_files(path, worst, err), failed = judged < 0;
    snprintf(cells, sizeof cells, "%s/cells", path);
    int count = judged == 0 ? scandir(cells, &entries, is_no_dot, alphasort) : 0;
    for (int i = 0; i < count; i++) {
        char cell[PATH_MAX + NAME_MAX + 2];
        struct lb_err why = {0};
        snprintf(cell, sizeof cell, "%s/%s", cells, entries[i]->d_name);
        int more = judge_files(cell, worst, &why);
        if (more < 0 && !failed) failed = err_set(err, why.code, "%s", why.text);
        judged += more > 0 ? more : 0;
        free(entries[i]);
    }
    free(entries);
    if (failed) return -1;
    if (judged > 0) return 0;
    return err_set(err, LB_EXIT_USAGE, "%s has no history; runs with check.history = yes have",
                   path);
}

bool check_is_folder(const char *operand) {
    struct lb_err unknown = {0};
    struct stat about;
    return stat(operand, &about) == 0 && S_ISDIR(about.st_mode) &&
           lock_word_check(operand, &unknown) != 0;
}

int check_judge(const char *const *folders, int count, struct lb_err *err) {
    enum oplog_verdict worst = OPLOG_CLEAN;
    for (int i = 0; i < count; i++) {
        if (judge_folder(folders[i], &worst, err) != 0) return -1;
    }
    return worst == OPLOG_CLEAN ? LB_EXIT_OK : LB_EXIT_VIOLATED;
}
