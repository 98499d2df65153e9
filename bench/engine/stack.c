/* stack: see stack.h. An overflow hits the guard page and ends the program; it never corrupts
 * another stack. */
#define _GNU_SOURCE
#include "bench/engine/stack.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench/engine/context.h"
#ifdef LB_ASAN
#include <sanitizer/asan_interface.h>
#endif

int stack_map(struct stack *stack, size_t bytes) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t usable = (bytes + page - 1) / page * page;
    char *map = mmap(NULL, usable + page, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED) return -1;
    if (mprotect(map + page, usable, PROT_READ | PROT_WRITE) != 0) {
        munmap(map, usable + page);
        return -1;
    }
    stack->base = map + page;
    stack->bytes = usable;
    return 0;
}

void stack_unmap(struct stack *stack) {
    if (!stack->base) return;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
#ifdef LB_ASAN
    /* Frames that were left by a switch are still marked by the sanitizer: the next mapping at this
     * address would inherit the marks. */
    __asan_unpoison_memory_region(stack->base, stack->bytes);
#endif
    munmap(stack->base - page, stack->bytes + page);
    stack->base = NULL;
    stack->bytes = 0;
}

/* Reads memory of frames that no longer exist, which a sanitizer would report as an error. */
__attribute__((no_sanitize("address", "thread"))) size_t stack_used(const struct stack *stack) {
    const uint64_t *word = (const uint64_t *)(const void *)stack->base;
    size_t count = stack->bytes / sizeof *word;
    size_t i = 0;
    while (i < count && word[i] == 0) i++;
    return stack->bytes - i * sizeof *word;
}
