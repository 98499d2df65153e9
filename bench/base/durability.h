/* durability: what a lock's state survives, as one word.
 *
 * Topology scripts, drivers' tables and result files carry the word. Sentences that explain it are
 * for people only: nothing is read out of them. */
#ifndef BENCH_BASE_DURABILITY_H
#define BENCH_BASE_DURABILITY_H

/* From the weakest to the strongest; then "not stated". */
enum durability {
    DURABILITY_NONE,   /* no server: nothing outlives this machine */
    DURABILITY_MEMORY, /* a server's memory: gone when its process ends */
    DURABILITY_LOG, /* a log that is not flushed before each answer: may be lost with the machine */
    DURABILITY_DISK, /* on disk before each answer: survives a restart */
    DURABILITY_UNKNOWN,
    DURABILITIES
};

/* "none", "memory", "log", "disk"; NULL for DURABILITY_UNKNOWN. */
const char *durability_name(enum durability durability);

/* DURABILITY_UNKNOWN for NULL and for any other word. */
enum durability durability_from(const char *name);

#endif
