/* fuzz_history: a .history file from anywhere: an error in one line, or a judgement of it. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench/oplog/judge.h"
#include "bench/oplog/oplog.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
    if (failed && (err.code == 0 || err.text[0] == '\0')) abort();
    if (judgement.witness_count < 0 || judgement.witness_count > OPLOG_WITNESSES) abort();
    book_done(&book);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[64];
    struct lb_err err = {0};
    struct oplog_file file;
    int fd = memfd_create("history", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size) abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (oplog_open(&file, path, &err) == 0) {
        use(&file);
        oplog_close(&file);
    } else if (err.code == 0 || strchr(err.text, '\n')) {
        abort();
    }
    close(fd);
    return 0;
}
