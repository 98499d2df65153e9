/* context: see context.h. */
#define _GNU_SOURCE

#include "bench/engine/context.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Stacks. An overflow hits the guard page and ends the program; it never corrupts
 * another stack. */

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

struct transfer {
    void *from;
    void *data;
};
extern struct transfer jump_fcontext(void *to, void *data);
extern void *make_fcontext(void *stack_top, size_t bytes, void (*entry)(struct transfer));

#ifdef LB_ASAN
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef LB_TSAN
#include <sanitizer/tsan_interface.h>
#endif

/* The data that a switch passes to the context that it enters: the previous context, and the entry
 * to run if the new one starts here. */
struct passage {
    struct context *from, *to;
};

static void context_arrived(struct transfer transfer, struct context *self) {
    struct passage *passage = transfer.data;
    struct context *from = passage->from;
    if (from) from->at = transfer.from;
#ifdef LB_ASAN
    const void *stack;
    size_t bytes;
    __sanitizer_finish_switch_fiber(self->fake, &stack, &bytes);
    if (from) {
        from->stack = stack;
        from->stack_bytes = bytes;
    }
#else
    (void)self;
#endif
}

static void trampoline(struct transfer transfer) {
    struct context *self = ((struct passage *)transfer.data)->to;
    context_arrived(transfer, self);
    self->entry(self->arg);
    abort();
}

void context_make(struct context *context, void *stack, size_t bytes, void (*entry)(void *),
                  void *arg) {
    *context = (struct context){.stack = stack, .stack_bytes = bytes, .entry = entry, .arg = arg};
    context->at = make_fcontext((char *)stack + bytes, bytes, trampoline);
#ifdef LB_TSAN
    context->tsan = __tsan_create_fiber(0);
#endif
}

void context_adopt(struct context *context) {
    *context = (struct context){0};
#ifdef LB_TSAN
    context->tsan = __tsan_get_current_fiber();
#endif
}

/* from: NULL = it never runs again. */
static void pass_over(struct context *from, struct context *to) {
    struct passage passage = {.from = from, .to = to};
    void *at = to->at;
#ifdef LB_ASAN
    __sanitizer_start_switch_fiber(from ? &from->fake : NULL, to->stack, to->stack_bytes);
#endif
#ifdef LB_TSAN
    __tsan_switch_to_fiber(to->tsan, 0);
#endif
    context_arrived(jump_fcontext(at, &passage), from);
}

void context_switch(struct context *from, struct context *to) {
    pass_over(from, to);
}

_Noreturn void context_exit(struct context *to) {
    pass_over(NULL, to);
    abort();
}

void context_done(struct context *context) {
#ifdef LB_TSAN
    if (context->tsan) __tsan_destroy_fiber(context->tsan);
    context->tsan = NULL;
#else
    (void)context;
#endif
}
