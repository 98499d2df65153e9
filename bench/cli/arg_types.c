/* arg_types: arguments that are names, with their completions for a shell; see args.h. The command
 * itself checks the names, because it can report more about a wrong one. */
#include "bench/cli/args.h"
#include "bench/cli/complete.h"

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
