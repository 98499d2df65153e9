/* counterexample: see counterexample.h. */
#include "report/doc/counterexample.h"

#include <string.h>

static const struct {
    const char *member;
    struct doc_column column;
} columns[] = {
    {"op", {.title = "operation"}},
    {"outcome", {.title = "outcome", .words = true}},
    {"client", {.title = "client", .right = true}},
    {"key", {.title = "key", .right = true}},
    {"begin_s", {.title = "called (s)", .right = true}},
    {"end_s", {.title = "returned (s)", .right = true}},
    {"lease_end_s", {.title = "lease end (s)", .right = true}},
    {"token", {.title = "token", .right = true}},
    {"note", {.title = "note", .words = true}},
};

/* Writes a text, or a number exactly, since tokens are whole numbers wider than a double. A token
 * of 0 means none. */
static void add_member(struct doc *doc, const char *member, const json_t *value) {
    bool none =
        strcmp(member, "token") == 0 && json_is_integer(value) && json_integer_value(value) == 0;
    size_t length = strlen(member);
    bool seconds = length > 2 && strcmp(member + length - 2, "_s") == 0;
    if (none || (seconds && !json_is_number(value))) {
        doc_cell(doc, NUMBER_NONE);
    } else if (seconds) {
        doc_cell(doc, "%.6f", json_number_value(value));
    } else if (json_is_integer(value)) {
        doc_cell(doc, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    } else if (json_is_real(value)) {
        doc_cell(doc, "%.15g", json_real_value(value));
    } else {
        doc_cell(doc, "%s", json_is_string(value) ? json_string_value(value) : "");
    }
}

void doc_counterexample(struct doc *doc, const json_t *operations) {
    const size_t column_count = sizeof columns / sizeof *columns;
    if (json_array_size(operations) == 0) return;
    doc_table(doc, NULL,
              "The operations that contradict each other; seconds from the window's begin");
    for (size_t c = 0; c < column_count; c++) doc_column(doc, &columns[c].column);
    for (size_t i = 0; i < json_array_size(operations); i++) {
        const json_t *operation = json_array_get(operations, i);
        doc_row(doc, DOC_ROW);
        for (size_t c = 0; c < column_count; c++)
            add_member(doc, columns[c].member, json_object_get(operation, columns[c].member));
    }
    doc_end(doc);
}
