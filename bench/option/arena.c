/* arena: see arena.h. One malloc for each piece: plans are small and made once, so pools would
 * save nothing. */
#include "bench/option/arena.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

struct arena_block {
    struct arena_block *older;
    alignas(max_align_t) unsigned char bytes[];
};

void *arena_alloc(struct arena *arena, size_t bytes) {
    struct arena_block *block = calloc(1, sizeof *block + bytes);
    if (!block) return NULL;
    block->older = arena->newest;
    arena->newest = block;
    return block->bytes;
}

const char *arena_text(struct arena *arena, const char *text) {
    if (!text) return NULL;
    size_t size = strlen(text) + 1;
    char *copy = arena_alloc(arena, size);
    if (copy) memcpy(copy, text, size);
    return copy;
}

void arena_done(struct arena *arena) {
    while (arena->newest) {
        struct arena_block *block = arena->newest;
        arena->newest = block->older;
        free(block);
    }
}
