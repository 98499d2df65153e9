/* context: switches stacks by Boost.Context's C ABI (8 ns for a switch there and back, where
 * swapcontext makes two system calls), with the calls that AddressSanitizer and ThreadSanitizer
 * need.
 *
 * The two assembler functions have a C ABI, but Boost ships only a C++ header; the declarations
 * here are that ABI. Nothing else of Boost is used. */
#ifndef BENCH_ENGINE_CONTEXT_H
#define BENCH_ENGINE_CONTEXT_H

#include <stddef.h>

/* stack: a fiber's stack, mapped lazily, with a guard page below it. */

struct stack {
    char *base;   /* lowest usable byte; the guard page lies below */
    size_t bytes; /* usable */
};

/* Maps a stack of at least `bytes`. Returns 0, or -1 with errno (ENOMEM: see vm.max_map_count). */
int stack_map(struct stack *stack, size_t bytes);

/* Unmaps a stack; accepts an empty one. */
void stack_unmap(struct stack *stack);

#if defined(__SANITIZE_ADDRESS__)
#define LB_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LB_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define LB_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define LB_TSAN 1
#endif
#endif

struct context {
    void *at; /* where to continue; NULL while running */
    /* lowest byte of the stack, for AddressSanitizer; a thread's own stack is learned at a
     * switch */
    const void *stack;
    size_t stack_bytes;
    void (*entry)(void *);
    void *arg;
    void *fake; /* for AddressSanitizer */
    void *tsan; /* for ThreadSanitizer */
};

/* Prepares a context that will run entry(arg) on a stack at its first switch. entry must never
 * return: it ends with context_exit. */
void context_make(struct context *context, void *stack, size_t bytes, void (*entry)(void *),
                  void *arg);

/* Makes the calling thread's own stack a context that can be switched back to. */
void context_adopt(struct context *context);

/* Switches from `from` (the running one) to `to`; returns when another context switches back to
 * `from`. */
void context_switch(struct context *from, struct context *to);

/* The same, from a context that will never run again. */
_Noreturn void context_exit(struct context *to);

/* Removes what the sanitizers know about a context that has exited or never ran. */
void context_done(struct context *context);

#endif
