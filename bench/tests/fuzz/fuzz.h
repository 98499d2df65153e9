/* fuzz: what the targets share. Header only. */
#ifndef BENCH_FUZZ_FUZZ_H
#define BENCH_FUZZ_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench/base/err.h"

/* A target: the fuzzer calls it with each input. It returns 0, and aborts where a promise is broken. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whoever refuses an input says why, in one line. */
static inline void expect_reason(const struct lb_err *err) {
    if (err->code == 0 || err->text[0] == '\0' || strchr(err->text, '\n')) abort();
}

/* The input as a file, for readers of files: its fd, which the caller closes, and its path. */
static inline int input_file(const uint8_t *data, size_t size, char path[40]) {
    int fd = (int)syscall(SYS_memfd_create, "input", 0);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size) abort();
    snprintf(path, 40, "/proc/self/fd/%d", fd);
    return fd;
}

#endif
