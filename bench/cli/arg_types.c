/* arg_types: arguments that are names, with their completions for a shell, and rates; see args.h.
 * The command itself checks the names, because it can report more about a wrong one. */
#include "bench/cli/args.h"

#include <string.h>

#include "bench/cli/complete.h"
#include "bench/option/text.h"

#define TEXT_TYPE(what, described, offers)                                                         \
    const struct lb_option_type arg_type_##what = {                                                \
        .name = #what,                                                                             \
        .bytes = sizeof(char *),                                                                   \
        .read = option_read_text,                                                                  \
        .text = option_format_text,                                                                \
        .words = described,                                                                        \
        .complete = offers,                                                                        \
    }
TEXT_TYPE(lock, "the name of a lock", complete_locks);
TEXT_TYPE(selection, "names of locks, backends or primitives, all", complete_selection);
TEXT_TYPE(scenarios, "names of faults", complete_scenarios);
TEXT_TYPE(topology, "the name of a topology", complete_topologies);
TEXT_TYPE(workload, "the name of a workload, or its file", complete_workloads);
TEXT_TYPE(name, "the name of a lock, a backend or a workload", complete_names);

#define LIST_TYPE(what, described, offers)                                                         \
    const struct lb_option_type arg_type_##what = {                                                \
        .name = #what,                                                                             \
        .bytes = sizeof(struct arg_list),                                                          \
        .read = arg_read_list,                                                                     \
        .words = described,                                                                        \
        .complete = offers,                                                                        \
    }
LIST_TYPE(locks, "names of locks", complete_locks);
LIST_TYPE(topologies, "names of topologies or backends", complete_topologies);
LIST_TYPE(keys, "SECTION.KEY=VALUE", complete_keys);

static int read_rate(const struct lb_option *option, const char *text, void *values,
                     struct arena *arena, struct lb_err *err) {
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"s", 1}, {"min", 60}, {"h", 3600}};
    const char *slash = strchr(text, '/');
    char number[40];
    double seconds = slash ? 0 : 1, rate;
    (void)arena;
    for (size_t i = 0; slash && i < sizeof units / sizeof *units; i++) {
        if (strcmp(slash + 1, units[i].name) == 0) seconds = units[i].seconds;
    }
    if (!(seconds > 0) ||
        text_trim(text, slash ? (size_t)(slash - text) : strlen(text), number, sizeof number) != 0)
        return err_set(err, LB_EXIT_USAGE, "'%.40s' is not a rate", text);
    if (text_real(number, option->min, option->max, &rate, err) != 0) return -1;
    *(double *)option_at(option, values) = rate / seconds;
    return 0;
}

const struct lb_option_type arg_type_rate = {
    .name = "rate",
    .bytes = sizeof(double),
    .read = read_rate,
    .words = "a number a second, a minute or an hour: 40/s, 2400/min, 1/h",
};
