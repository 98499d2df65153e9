/* stack: a fiber's stack: mapped lazily, with a guard page below it, and a census of its deepest
 * use. */
#ifndef BENCH_ENGINE_STACK_H
#define BENCH_ENGINE_STACK_H

#include <stddef.h>

struct stack {
    char *base;   /* lowest usable byte; the guard page lies below */
    size_t bytes; /* usable */
};

/* Maps a stack of at least `bytes`. 0, or -1 with errno (ENOMEM: see vm.max_map_count). */
int stack_map(struct stack *stack, size_t bytes);

/* Unmaps; an empty one is fine. */
void stack_unmap(struct stack *stack);

/* How deep it was ever used, in bytes: the pages are zero until touched, so the lowest non-zero
 * byte tells. */
size_t stack_used(const struct stack *stack);

#endif
