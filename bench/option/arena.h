/* arena: memory that is given piece by piece and freed at once; a plan's texts and options live in
 * one. */
#ifndef BENCH_OPTION_ARENA_H
#define BENCH_OPTION_ARENA_H

#include <stddef.h>

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
