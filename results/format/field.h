/* field: one row of a table that says where a value of a result lies: in the JSON document, in the
 * C struct that a reader fills and a writer is given, and in the reports.
 *
 * The readers, the writers, the generated reference (results/FIELDS.md) and the reports' columns all walk the same
 * tables, so a value that has a row is in all of them. A table holds no values and opens no files. */
#ifndef RESULTS_FORMAT_FIELD_H
#define RESULTS_FORMAT_FIELD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* The kind of the value, which decides the type of its member. */
enum result_kind {
    /* Scalars. The member of a number is a double, NAN = null; the member of a text is const char
     * *, NULL = null. */
    RESULT_TEXT,
    RESULT_TEXT_OR_COUNT, /* a text; a text that is a whole number is a number in the document */
    RESULT_FLAG,          /* bool; null reads as false */
    RESULT_COUNT,         /* a whole number */
    RESULT_NS,            /* whole nanoseconds */
    RESULT_REAL,
    RESULT_REAL_NS,     /* nanoseconds with a fraction: a mean, a quotient */
    RESULT_NS_OR_NEVER, /* whole nanoseconds, or INFINITY, which is RESULT_NEVER in the document */
    RESULT_SIGNED,      /* like RESULT_REAL, but may be negative */
    RESULT_YES_NO,      /* a double: 1 = true, 0 = false, NAN = null */
    /* Containers. An object has no member: the rows of its members follow it. */
    RESULT_OBJECT,
    RESULT_OPTIONAL, /* an object that is null if all of its members are absent */
    RESULT_LATENCY,  /* such an object with a struct run_latency, whose parts follow */
    RESULT_HDR,      /* a text: a histogram in the V2 format, base64 */
    /* const json_t *, borrowed; NULL = null. `items` describes their elements. */
    RESULT_TEXTS,
    RESULT_NUMBERS,
    RESULT_OBJECTS,
    RESULT_ANY,  /* an object or array that is copied as it is */
    RESULT_FREE, /* an object that is described elsewhere */
    /* An array of objects with their own struct: the member points to the structs, and the result owns them. */
    RESULT_ROWS,
};

/* The groups of columns that may show a figure of a stage. */
enum {
    IN_COMPARISON = 1 << 0, /* the comparison itself */
    IN_LATENCY = 1 << 1,    /* every percentile */
    IN_FAIRNESS = 1 << 2,
    IN_COST = 1 << 3,
    IN_OUTCOMES = 1 << 4,
    IN_OPEN_LOOP = 1 << 5, /* arrivals, lateness */
    IN_RECOVERY = 1 << 6,
    IN_TOOL = 1 << 7 /* the load generator's own stalls */
};

#define RESULT_NEVER "never"

struct result_field {
    const char *path; /* "fairness.jain"; NULL ends a table */
    enum result_kind kind;
    size_t offset;    /* the offset of the member in its struct */
    const char *help; /* the meaning, one sentence without a full stop */
    const char *more; /* further sentences for the reference; NULL = none */
    const char *
        unit; /* the unit, if the kind does not say it: "s", "1/s", "bytes"; "share": 0 to 1, which reports show
                       * as per cent */
    /* the words that a text may be, separated by blanks, or by ", " if words contain blanks; NULL =
     * any text */
    const char *words;
    /* a reader refuses another word, because it would be taken for a finding that nothing is wrong, or the stage would
     * be left out in silence */
    bool closed;
    /* the table of an element of RESULT_OBJECTS, or of a RESULT_ANY; of RESULT_ROWS, where NULL is that of a stage */
    const struct result_field *items;
    size_t most; /* the number of elements of RESULT_OBJECTS and RESULT_ROWS; 0 = any */
    /* of RESULT_ROWS: the offset of the member that counts them, an int; the bytes of a struct */
    size_t count_offset, item_bytes;

    /* In the reports. */
    const char *title; /* "acquire p50" */
    const char *head;  /* the title in a terminal of 100 columns: at most 9 characters */
    int better;        /* 1: more is better, -1: less, 0: neither */
    unsigned groups;   /* IN_...; 0 = no column */
    /* the place in the comparison, from the left; the other groups keep the table's order */
    int place;
    bool rare; /* the comparison has it only if some row has more than 0 of it */
    /* the path of the figure that this one replaces, in the comparison and in `compare`, wherever
     * this one was measured */
    const char *instead_of;
    const char *compared; /* its name in `compare`; NULL = it is not in it */
    int compared_place;   /* the place in `compare` */
    /* true: the sum is taken, over the repeats of a stage, or over the runs of a check's cell; else the median of the
     * repeats, or the value of the run with the worst verdict */
    bool sums;
};

/* Rows of a table: of a struct's member, of its list of structs, and of an object that the struct has no member for. */
#define ROW(type, kind_, member, path_, ...)                                                       \
    { .path = path_, .kind = RESULT_##kind_, .offset = offsetof(struct type, member), __VA_ARGS__ }
#define LIST_ROW(type, list, number, path_, ...)                                                   \
    {                                                                                              \
        .path = path_, .kind = RESULT_ROWS, .offset = offsetof(struct type, list),                 \
        .count_offset = offsetof(struct type, number),                                             \
        .item_bytes = sizeof *((struct type *)0)->list, __VA_ARGS__                                \
    }
#define NO_MEMBER(kind_, path_, ...)                                                               \
    { .path = path_, .kind = RESULT_##kind_, __VA_ARGS__ }

/* True if the struct has a member for it; an object has none, since its own rows have the
 * members. */
bool result_field_has_member(const struct result_field *field);
/* True if the member is a double. */
bool result_field_is_figure(const struct result_field *field);
/* True for a figure in nanoseconds. */
bool result_field_is_time(const struct result_field *field);
/* True for a part of a whole, 0 to 1. */
bool result_field_is_share(const struct result_field *field);

/* The member of a struct for a field. The field must have that kind of member. Of a list: its structs, and their number. */
double result_field_figure(const struct result_field *field, const void *of);
void result_field_set_figure(const struct result_field *field, void *of, double figure);
const char *result_field_text(const struct result_field *field, const void *of);
bool result_field_flag(const struct result_field *field, const void *of);
const json_t *result_field_branch(const struct result_field *field, const void *of);
char *result_field_list(const struct result_field *field, const void *of, int *ret_count);
/* A number of such a branch: of this member of an object, or NAN. */
double result_number(const json_t *object, const char *name);
/* The rows of stage.def, in its order. They end with a path of NULL; any thread may read them. */
const struct result_field *run_stage_fields(void);
/* The table of the elements of a list, or of an object's members; NULL = none. */
const struct result_field *result_field_items(const struct result_field *field);

/* True if the path of the field goes through the object. */
bool result_field_is_inside(const struct result_field *field, const struct result_field *object);
/* True if the object may be null and all its members are absent. The rows of its members follow its own. */
bool result_field_is_null_object(const struct result_field *object, const void *of);

/* Sets each member that the table names to absent: NAN, NULL or false. */
void result_field_clear_all(const struct result_field *fields, void *of);

struct tree_place;

/* A kind of result file: the table of its root, from which RESULT_ROWS lead to the other tables. */
struct result_document {
    const char *file;   /* "run.json" */
    const char *schema; /* "lockbench.run/2" */
    const char *kind;   /* the command that writes it: "lockbench run" */
    const char *about;  /* one or two sentences */
    const struct result_field *fields;
    size_t bytes; /* of the struct; it begins with RESULT_HEAD */
    /* what no table says of a struct that was read: 0, or -1 with the error */
    int (*check)(struct tree_place *place, void *result);
};

/* What the struct of a result begins with. */
#define RESULT_HEAD                                                                                \
    char *path;   /* of the file, for messages */                                                  \
    char *dir;    /* its folder */                                                                 \
    json_t *root; /* owns every text and json_t of the struct */                                   \
    const char *tool_name, *tool_version, *command, *started_at, *ended_at, *partial_reason;       \
    bool partial;
struct result_head {
    RESULT_HEAD
};
#define RESULT_HEAD_ROWS(type)                                                                     \
    NO_MEMBER(OBJECT, "tool", .help = "the program that wrote the file"),                          \
        ROW(type, TEXT, tool_name, "tool.name", .help = "lockbench"),                              \
        ROW(type, TEXT, tool_version, "tool.version", .help = "its version"),                      \
        ROW(type, TEXT, command, "command", .help = "the command line that repeats it"),           \
        ROW(type, TEXT, started_at, "started_at", .help = "ISO 8601, UTC"),                        \
        ROW(type, TEXT, ended_at, "ended_at", .help = "the same; null until the end"),             \
        ROW(type, TEXT, partial_reason, "partial_reason", .help = "why it is partial"),            \
        ROW(type, FLAG, partial, "partial",                                                        \
            .help =                                                                                \
                "it was interrupted or a part failed: what is here was measured, the rest is missing")

extern const struct result_document run_document, check_document, capacity_document;

#endif
