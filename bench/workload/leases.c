/* leases: see leases.h. */
#include "bench/workload/leases.h"

#include <stdio.h>
#include <string.h>

static int read_leases(const struct lb_option *option, const char *text, void *values,
                       struct arena *arena, struct lb_err *err) {
    struct plan *plan = values;
    int64_t found_ns[PLAN_LADDER_MAX] = {0};
    int count = 0;
    (void)arena;
    for (const char *at = text;; at++) {
        char word[64];
        size_t len = strcspn(at, ",");
        int64_t lease_ns;
        if (text_trim(at, len, word, sizeof word) || !*word)
            return err_set(err, LB_EXIT_USAGE, "'%.60s' is not a list of leases like 500ms, 1s, 2s",
                           at);
        if (text_duration(word, (int64_t)option->min, (int64_t)option->max, &lease_ns, err))
            return -1;
        for (int i = 0; i < count; i++) {
            if (found_ns[i] == lease_ns)
                return err_set(err, LB_EXIT_USAGE,
                               "%s is there twice; to measure a stage again, set run.repeat", word);
        }
        if (count == PLAN_LADDER_MAX)
            return err_set(err, LB_EXIT_USAGE, "more than %d steps", PLAN_LADDER_MAX);
        found_ns[count++] = lease_ns;
        at += len;
        if (*at == '\0') break;
    }
    memcpy(plan->leases_ns, found_ns, sizeof *found_ns * (size_t)count);
    plan->leases_count = count;
    plan->lease_ns = found_ns[0];
    return 0;
}

static void format_leases(const struct lb_option *option, const void *values, char *text,
                          size_t size) {
    const struct plan *plan = values;
    size_t used = 0;
    (void)option;
    for (int i = 0; i < plan->leases_count && used < size; i++) {
        char one[40];
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "",
                                 duration_text(plan->leases_ns[i], one, sizeof one));
    }
}

/* One lease is a number, as it was before there were several; several are an array. */
static int json_leases(const struct lb_option *option, const void *values, json_t *object) {
    const struct plan *plan = values;
    if (plan->leases_count == 1)
        return option_put_json(option, "_ns", json_integer(plan->lease_ns), object);
    json_t *array = json_array();
    for (int i = 0; i < plan->leases_count; i++)
        json_array_append_new(array, json_integer(plan->leases_ns[i]));
    return option_put_json(option, "_ns", array, object);
}

const struct lb_option_type type_leases = {
    .name = "leases",
    .bytes = sizeof(int64_t[PLAN_LADDER_MAX]),
    .read = read_leases,
    .text = format_leases,
    .words = "a duration from 1ms to 24h, or a list like 500ms, 1s, 2s",
    .json = json_leases,
};

int leases_spread(struct plan *plan, struct arena *arena, struct lb_err *err) {
    if (plan->leases_count < 2) return 0;
    struct plan *spread = arena_alloc(arena, sizeof *spread * (size_t)plan->leases_count);
    if (!spread) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    for (int i = 0; i < plan->leases_count; i++) {
        spread[i] = *plan;
        spread[i].lease_ns = plan->leases_ns[i];
    }
    plan->at_lease = spread;
    return 0;
}

const struct plan *leases_plan(const struct plan *plan, int index) {
    if (!plan->at_lease) return index == 0 ? plan : NULL;
    return index < plan->leases_count ? &plan->at_lease[index] : NULL;
}

const struct plan *leases_find(const struct plan *plan, int64_t lease_ns) {
    const struct plan *found;
    for (int i = 0; (found = leases_plan(plan, i)); i++) {
        if (found->lease_ns == lease_ns) return found;
    }
    return NULL;
}

int64_t leases_shortest_ns(const struct plan *plan) {
    int64_t shortest_ns = plan->lease_ns;
    for (int i = 0; i < plan->leases_count; i++) {
        if (plan->leases_ns[i] < shortest_ns) shortest_ns = plan->leases_ns[i];
    }
    return shortest_ns;
}

bool leases_differ(const struct plan *plan, const struct lb_lock *lock) {
    bool ends = (lock->caps & LB_CAP_LEASE) || lock->about.crash == LB_CRASH_SESSION;
    return plan->leases_count > 1 && ends;
}
