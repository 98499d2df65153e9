/* text: the values that people write, read strictly: numbers, durations, yes and no, one of
 * several.
 *
 * A text that is not exactly a value is refused: "10x", "1e3" for a whole number, " 5", "nan". A number
 * outside its range is refused, and the error names the range. Errors say what is wrong with the value;
 * the caller adds the source of the value. All readers return 0, or -1 with err (LB_EXIT_USAGE) and the
 * result untouched. */
#ifndef BENCH_OPTION_TEXT_H
#define BENCH_OPTION_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/base/err.h"

/* A whole number: digits only, with an optional minus. */
int text_int(const char *text, int64_t min, int64_t max, int64_t *ret, struct lb_err *err);

/* A decimal number. */
int text_real(const char *text, double min, double max, double *ret, struct lb_err *err);

/* "250us", "1.5s", "2 ms", "3m", "1h", "0"; exact to the nanosecond or refused. */
int text_duration(const char *text, int64_t min_ns, int64_t max_ns, int64_t *ret_ns,
                  struct lb_err *err);

/* yes/no, true/false, on/off, 1/0. */
int text_bool(const char *text, bool *ret, struct lb_err *err);

/* The index of text in choices, "grpc,json". */
int text_choice(const char *text, const char *choices, int *ret_index, struct lb_err *err);

/* Writes the index-th of choices, or "?" if there are fewer; at most size bytes. Returns name. */
char *text_choice_name(const char *choices, int index, char *name, size_t size);

/* Writes "grpc,json,http" as "grpc, json or http"; at most size bytes. Returns list. */
char *text_choices(const char *choices, char *list, size_t size);

/* Writes a duration as "5ms", "1.5s", "2h", in the largest unit that needs no more than three
 * decimals. Writes at most size bytes, returns text. */
char *duration_text(int64_t ns, char *text, size_t size);

/* The shortest decimal form that reads back as the same number. Returns text. */
char *real_text(double value, char *text, size_t size);

/* Copies text without the blanks at both ends to `trimmed`. -1 if there is no room for it. */
int text_trim(const char *text, size_t len, char *trimmed, size_t size);

/* Takes the next item from a list with commas between, without the blanks at its ends; one that is too long becomes
 * a text that no reader takes. *list moves on, and is NULL behind the last one. False: there is none any more. */
bool text_item(const char **list, char *item, size_t size);

/* arena: memory that is given piece by piece and freed at once; a plan's texts and options live in
 * one. */

struct arena_block;

struct arena {
    struct arena_block *newest; /* a zeroed struct is an empty arena */
};

/* Zeroed memory, aligned for anything; NULL when out of memory. */
void *arena_alloc(struct arena *arena, size_t bytes);

/* A copy of text; NULL for NULL or when out of memory. */
const char *arena_text(struct arena *arena, const char *text);

/* Frees all memory that the arena gave. */
void arena_done(struct arena *arena);

#endif
