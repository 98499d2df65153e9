/* main: runs the known answers and prints them: `make answers`.
 *
 * usage: answers [--short] [--page FILE] [WORD]
 *   --short     those that take a second or two, as in the tests
 *   --page      also as Markdown
 *   WORD        the experiments with the word in their name
 * Exit code 0: all that must hold does; 1: something does not; 2: nothing could be run. */
#include "bench/tests/answers/answers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/servers/folder.h"
#include "bench/tests/answers/answers_doc.h"

static void write_page(const char *path, const struct answers_how *how,
                       const struct verdict_row *rows, int count, struct lb_err *err) {
    FILE *file = fopen(path, "we");
    if (!file) {
        err_set(err, LB_EXIT_MACHINE, "%s can't be written", path);
        return;
    }
    answers_print(how, rows, count, DOC_MARKDOWN, file, err);
    if (fclose(file) != 0) err_set(err, LB_EXIT_MACHINE, "%s can't be written", path);
}

int main(int argc, char **argv) {
    struct answers_how how = {.program = getenv("LOCKBENCH_PROGRAM")};
    struct verdict_row *rows = NULL;
    struct lb_err err = {0};
    char folder[128];
    const char *page = NULL;
    int failed = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--short") == 0)
            how.brief = true;
        else if (strcmp(argv[i], "--page") == 0 && i + 1 < argc)
            page = argv[++i];
        else
            how.only = argv[i];
    }
    if (!how.program) how.program = ".build/release/lockbench";
    if (folder_make("/tmp", "answers", folder, sizeof folder, &err) != 0) goto done;
    how.folder = folder;
    int count = answers_run(&how, &rows, &err);
    if (count < 0) goto done;
    for (int i = 0; i < count; i++) failed += !rows[i].is_ok;
    answers_print(&how, rows, count, DOC_TERMINAL, stdout, &err);
    if (page) write_page(page, &how, rows, count, &err);
    if (failed)
        fprintf(stderr, "answers: the results are kept in %s\n", folder);
    else
        folder_remove(folder);
done:
    free(rows);
    if (err.code) fprintf(stderr, "answers: %s\n", err.text);
    return err.code ? LB_EXIT_MACHINE : failed > 0;
}
