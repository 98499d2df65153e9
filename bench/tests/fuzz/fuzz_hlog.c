/* fuzz_hlog: a histogram log from anywhere: every line is an error that says which, or a histogram
 * that adds up. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/format/hlog.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use_line(const struct hlog_line *line) {
    int64_t count = 0;
    for (int32_t slot = line->hist->first; slot <= line->hist->last; slot++)
        count += line->hist->counts[slot];
    if (count != line->hist->count || line->length_ns < 0 || line->start_ns < 0) abort();
    if (line->length_ns > INT64_MAX - line->start_ns) abort();
    for (const char *c = line->tag; *c; c++) {
        if (*c <= ' ' || *c >= 0x7f || *c == ',') abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0; /* fmemopen has no empty streams */
    FILE *stream = fmemopen((void *)(uintptr_t)data, size, "r");
    struct lb_err err = {0};
    struct hlog_reader *reader = stream ? hlog_open_stream(stream, "a.hlog", &err) : NULL;
    if (!reader) abort();
    for (long before = 0;;) {
        struct hlog_line line = {0};
        err = (struct lb_err){0};
        int got = hlog_next(reader, &line, &err);
        if (got == 0) break;
        if (got < 0 && strncmp(err.text, "a.hlog: line ", 13) != 0) abort();
        if (got < 0) continue;
        if (line.number <= before) abort();
        before = line.number;
        use_line(&line);
    }
    hlog_close(reader);
    return 0;
}
