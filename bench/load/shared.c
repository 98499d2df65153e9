/* shared: see shared.h. */
#include "bench/load/shared.h"

#include <string.h>
#include <sys/mman.h>

uint64_t shared_key_number(const struct shared *shared, uint32_t index) {
    const struct key_names *names = &shared->plan->key_names;
    if (names->count > 0) return lb_key_number(names->item[index], strlen(names->item[index]));
    return (shared->key_salt + index) & (UINT64_MAX >> 1);
}

size_t shared_key_name(const struct shared *shared, uint32_t index, char *text) {
    const struct key_names *names = &shared->plan->key_names;
    if (names->count > 0) {
        size_t named = strlen(names->item[index]);
        memcpy(text, names->item[index], named + 1);
        return named;
    }
    char digits[12];
    int count = 0;
    do digits[count++] = (char)('0' + index % 10);
    while ((index /= 10) > 0);
    size_t len = strlen(shared->key_prefix);
    memcpy(text, shared->key_prefix, len);
    while (count > 0) text[len++] = digits[--count];
    text[len] = '\0';
    return len;
}

struct lb_request shared_request(const struct shared *shared, uint32_t index, char *name) {
    const struct plan *plan = shared->plan;
    return (struct lb_request){
        .key = name,
        .key_len = shared_key_name(shared, index, name),
        .key_number = shared_key_number(shared, index),
        .key_index = index,
        .deadline_ns = LB_NEVER,
        .lease_ns = plan->lease_ns,
        .permits = plan->permits > 0 ? plan->permits : 1,
        .bound = plan->bound > 0 ? plan->bound : 1,
    };
}

void shared_free(struct shared *shared) {
    if (shared) munmap(shared, shared->bytes);
}

void shared_slice(const struct shared *shared, int thread, uint32_t *ret_first,
                  uint32_t *ret_count) {
    uint32_t clients = (uint32_t)shared->clients, threads = (uint32_t)shared->threads,
             index = (uint32_t)thread;
    uint32_t each = clients / threads, more = clients % threads;
    *ret_first = index * each + (index < more ? index : more);
    *ret_count = each + (index < more ? 1 : 0);
}

uint32_t shared_per_session(const struct shared *shared) {
    return (uint32_t)plan_session_clients(shared->plan, shared->lock->lock);
}

uint32_t shared_session_clients(const struct shared *shared, uint32_t client, uint32_t *ret_end) {
    uint32_t each = shared_per_session(shared), first = 0, count = 0;
    for (int thread = 0; thread < shared->threads && client >= first + count; thread++)
        shared_slice(shared, thread, &first, &count);
    uint32_t from = first + (client - first) / each * each;
    *ret_end = from + each < first + count ? from + each : first + count;
    return from;
}

int shared_first_thread(const struct shared *shared, int process) {
    return (int)((int64_t)shared->threads * process / shared->processes);
}

bool shared_sums_up(const struct shared *shared) {
    return shared->part.count == 0 || shared->part.self == PART_NONE;
}

int shared_own_processes(const struct shared *shared, int *ret_end) {
    const struct part *part = &shared->part;
    if (part->count == 0) {
        *ret_end = shared->processes;
        return 0;
    }
    int each = shared->processes / part->count;
    int first = part->self == PART_NONE ? 0 : part->self * each;
    *ret_end = part->self == PART_NONE ? 0 : first + each;
    return first;
}

int shared_own_threads(const struct shared *shared, int *ret_end) {
    int end, first = shared_own_processes(shared, &end);
    *ret_end = shared_first_thread(shared, end);
    return shared_first_thread(shared, first);
}

/* The clients of threads first .. end - 1; none of none. */
static uint32_t clients_of(const struct shared *shared, int first, int end, uint32_t *ret_end) {
    uint32_t from = 0, last = 0, count = 0;
    if (first < end) {
        shared_slice(shared, first, &from, &count);
        shared_slice(shared, end - 1, &last, &count);
    }
    *ret_end = last + count;
    return from;
}

uint32_t workers_clients(const struct shared *shared, int process, uint32_t *ret_end) {
    int end = shared_first_thread(shared, process + 1);
    return clients_of(shared, shared_first_thread(shared, process), end, ret_end);
}

int shared_own_clients(const struct shared *shared, int *ret_end) {
    int end, first = shared_own_threads(shared, &end);
    uint32_t last, from = clients_of(shared, first, end, &last);
    *ret_end = (int)last;
    return (int)from;
}
