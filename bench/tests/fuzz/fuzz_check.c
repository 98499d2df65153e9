/* fuzz_check: check.json from anywhere: an error in one line, or a check whose cells name rows and
 * columns that are there. */
#include "bench/tests/fuzz/fuzz.h"
#include "results/format/check_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct lb_err err = {0};
    struct check *check = check_parse((const char *)data, size, "check.json", &err);
    if (!check) expect_reason(&err);
    for (int i = 0; check && i < check->cell_count; i++) {
        const struct check_cell *cell = &check->cells[i];
        if (cell->lock < 0 || cell->lock >= check->lock_count) abort();
        if (cell->fault < 0 || cell->fault >= check->fault_count) abort();
        if (!check_verdict_name(cell->verdict)) abort();
    }
    check_free(check);
    return 0;
}
