/* stack: a fiber's stack, mapped lazily, with a guard page below it and a measure of its deepest
 * use. */
#ifndef BENCH_ENGINE_STACK_H
#define BENCH_ENGINE_STACK_H

#include <stddef.h>

struct stack {
    char *base;   /* lowest usable byte; the guard page lies below */
    size_t bytes; /* usable */
};

/* Maps a stack of at least `bytes`. Returns 0, or -1 with errno (ENOMEM: see vm.max_map_count). */
int stack_map(struct stack *stack, size_t bytes);

/* Unmaps a stack; accepts an empty one. */
void stack_unmap(struct stack *stack);

/* The deepest use so far, in bytes. Pages are zero until they are touched, so the lowest non-zero
 * byte marks it. */
size_t stack_used(const struct stack *stack);

#endif
