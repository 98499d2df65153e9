/* fuzz_history: a .history file from anywhere: an error in one line, or a judgement of it. */
#include "bench/oplog/judge.h"
#include "bench/oplog/oplog.h"
#include "bench/tests/fuzz/fuzz.h"

static void use(const struct oplog_file *file) {
    struct lb_err err = {0};
    struct book book = {0};
    struct judgement judgement = {0};
    int failed = book_begin(&book, &file->header.rules, &err);
    if (!failed) failed = book_add_file(&book, file, &err);
    if (!failed) {
        book_end(&book, file->header.dropped, file->header.whole);
        failed = oplog_judge(&book, &judgement, NULL, &err);
    }
    if (failed) expect_reason(&err);
    if (judgement.witness_count < 0 || judgement.witness_count > OPLOG_WITNESSES) abort();
    book_done(&book);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[40];
    struct lb_err err = {0};
    struct oplog_file file;
    int fd = input_file(data, size, path);
    if (oplog_open(&file, path, &err) == 0) {
        use(&file);
        oplog_close(&file);
    } else {
        expect_reason(&err);
    }
    close(fd);
    return 0;
}
