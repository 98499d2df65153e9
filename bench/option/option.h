/* option: one table of typed options; it drives reading, defaults, printing, JSON and help of
 * workload keys, drivers' options and command-line arguments.
 *
 * An entry says where in a struct its value lies and which type the value has. A type is a table of
 * functions, so a new type is one `struct lb_option_type` and needs no change here. The options
 * know no file and no command line: the reader of a file or of arguments says where the text
 * stands. */
#ifndef BENCH_OPTION_OPTION_H
#define BENCH_OPTION_OPTION_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "bench/base/err.h"
#include "bench/base/nearest.h"
#include "bench/option/text.h"

struct lb_option_type;

struct lb_option {
    const char *name; /* NULL ends a table */
    const struct lb_option_type *type;
    size_t offset;   /* of the value in the struct */
    const char *def; /* the default, as people would write it; NULL = the struct keeps its zero */
    double min, max; /* numbers; durations in ns; texts: bytes, where max is above 0 */
    const char *choices; /* "grpc,json"; for numbers: the word that means 0, "none" */
    const char *help;    /* one line, units included */
};

/* Where a value that is read goes: the member, and the whole struct, since a type may fill several members. Texts are
 * copied into the arena. */
struct option_into {
    const struct lb_option *option;
    void *at, *values;
    struct arena *arena;
};

struct lb_option_type {
    size_t bytes; /* of the member in the struct */
    /* Returns 0; or -1 with err, which says what is wrong with the text, and leaves the struct
     * untouched. */
    int (*read)(const struct option_into *into, const char *text, struct lb_err *err);
    /* Writes the value, which the member `in` has, as `read` takes it, at most size bytes. */
    void (*text)(const struct lb_option *option, const void *in, char *text, size_t size);
    /* The allowed values: what `allowed` writes, or else the words; if both are NULL, the entry's choices. */
    void (*allowed)(const struct lb_option *option, char *text, size_t size);
    const char *words;
    /* The value as JSON, NULL when out of memory; .json NULL = its text. unit: ends its name in JSON; NULL = none. */
    json_t *(*json)(const struct lb_option *option, const void *in);
    const char *unit;
};

/* The types that all rooms may use. A number in a type's name is the size of the member in bits. */
extern const struct lb_option_type lb_type_int;      /* int64_t or uint64_t, min to max */
extern const struct lb_option_type lb_type_int32;    /* int or uint32_t */
extern const struct lb_option_type lb_type_duration; /* int64_t ns: "250us", "1.5s" */
extern const struct lb_option_type lb_type_real;     /* double */
extern const struct lb_option_type lb_type_percent;  /* double: "3", "0.5%" */
extern const struct lb_option_type lb_type_bool;     /* int64_t 0 or 1: yes/no, true/false, ... */
extern const struct lb_option_type lb_type_bool8;    /* bool */
extern const struct lb_option_type lb_type_choice;   /* int64_t: the index in choices */
extern const struct lb_option_type lb_type_choice32; /* an enum in the order of choices */
extern const struct lb_option_type lb_type_choice8;  /* bool, false for the first of two choices */
extern const struct lb_option_type lb_type_choice_word; /* const char *: one of choices */
extern const struct lb_option_type lb_type_text;        /* const char * */

#define LB_OPT_INT (&lb_type_int)
#define LB_OPT_INT32 (&lb_type_int32)
#define LB_OPT_DURATION (&lb_type_duration)
#define LB_OPT_REAL (&lb_type_real)
#define LB_OPT_PERCENT (&lb_type_percent)
#define LB_OPT_BOOL (&lb_type_bool)
#define LB_OPT_BOOL8 (&lb_type_bool8)
#define LB_OPT_CHOICE (&lb_type_choice)
#define LB_OPT_CHOICE32 (&lb_type_choice32)
#define LB_OPT_CHOICE8 (&lb_type_choice8)
#define LB_OPT_CHOICE_WORD (&lb_type_choice_word)
#define LB_OPT_TEXT (&lb_type_text)

/* The address of the value in the struct `values`. */
static inline const void *option_in(const struct lb_option *option, const void *values) {
    return (const char *)values + option->offset;
}

/* Helpers for other types. option_is_zero_word: text is the word that means 0. */
bool option_is_zero_word(const struct lb_option *option, const char *text);
int option_read_text(const struct option_into *into, const char *text, struct lb_err *err);
void option_format_text(const struct lb_option *option, const void *in, char *text, size_t size);

/* All functions take a table that ends with a NULL name; a NULL table is an empty one. */

/* Fills every value that has a default. 0, or -1 with err: a default that its own table refuses. */
int options_fill(const struct lb_option *table, void *values, struct arena *arena,
                 struct lb_err *err);

/* A zeroed struct of `bytes`, in the arena, filled with the defaults. NULL with err. */
void *options_new(const struct lb_option *table, size_t bytes, struct arena *arena,
                  struct lb_err *err);

/* The entry of a name; NULL if there is none. */
const struct lb_option *options_find(const struct lb_option *table, const char *name);

/* Offers the names of all entries to `nearest`. */
void options_offer(const struct lb_option *table, struct nearest *nearest);

/* Reads text into the struct. 0, or -1 with err, which says what is wrong with the text. */
int option_read(const struct lb_option *option, void *values, const char *text, struct arena *arena,
                struct lb_err *err);

/* The same for a name and a text that stand at `source`: err begins with that and ends with the
 * right name, or with what is allowed. */
int option_set(const struct lb_option *option, void *values, const char *text, const char *source,
               struct arena *arena, struct lb_err *err);

/* Writes the allowed values: "a whole number, 1 to 100". Returns text. */
char *option_allowed(const struct lb_option *option, char *text, size_t size);

/* The value as text that option_read takes. Returns text. */
char *option_text(const struct lb_option *option, const void *values, char *text, size_t size);

/* Puts each value into object: numbers, durations in ns under "<name>_ns", texts. 0, or -1 when out
 * of memory. */
int options_json(const struct lb_option *table, const void *values, json_t *object);

#endif
