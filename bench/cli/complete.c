/* complete: the arguments that are names, with what a shell offers for them, and rates; see args.h. The
 * commands themselves check the names, because they can report more about a wrong one. */
#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/home.h"
#include "bench/cli/args.h"
#include "bench/cli/cli.h"
#include "bench/option/text.h"
#include "bench/workload/sections.h"
#include "bench/workload/workfile.h"
#include "drivers/registry.h"

/* Offers before + name + after, if the typed word is a beginning of it. */
static void offer_parts(const struct completion *to, const char *before, const char *name,
                        const char *after, const char *about) {
    char word[200];
    const char *typed = to->typed + to->kept;
    snprintf(word, sizeof word, "%s%s%s", before, name, after);
    if (strncmp(word, typed, strlen(typed)) == 0)
        fprintf(to->out, "%.*s%s\t%s\n", (int)to->kept, to->typed, word, about ? about : "");
}

static void offer(const struct completion *to, const char *word, const char *about) {
    offer_parts(to, "", word, "", about);
}

/* In a list with commas only the last word is completed. */
static void keep_list(struct completion *to) {
    const char *separator = strrchr(to->typed + to->kept, ',');
    if (!separator) separator = strrchr(to->typed + to->kept, '=');
    if (separator) to->kept = (size_t)(separator + 1 - to->typed);
}

static void complete_locks(struct completion *to) {
    keep_list(to);
    for (int i = 0; registry_locks()[i]; i++)
        offer(to, registry_locks()[i]->name, registry_locks()[i]->summary);
}

static void offer_backends(const struct completion *to) {
    for (int i = 0; registry_backends()[i]; i++)
        offer(to, registry_backends()[i]->name, registry_backends()[i]->summary);
}

static void complete_selection(struct completion *to) {
    complete_locks(to);
    offer_backends(to);
    for (int i = 0; i < LB_NO_PRIMITIVE; i++)
        offer(to, lb_primitive_name((enum lb_primitive)i), "all of this primitive");
    offer(to, "all", "every lock that can run here");
    offer(to, "controls", "the locks that are broken on purpose");
}

void complete_backends(struct completion *to) {
    for (int i = 0; registry_backends()[i]; i++) {
        const struct lb_backend *backend = registry_backends()[i];
        if (backend->schemes) offer_parts(to, "", backend->name, "=", backend->summary);
    }
}

/* Offers each script of compose/local. */
static void complete_topologies(struct completion *to) {
    struct lb_err err = {0};
    char folder[PATH_MAX];
    struct dirent **entries;
    if (home_path("compose/local", folder, sizeof folder, &err)) return;
    int count = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        if (*entries[i]->d_name != '.') offer(to, entries[i]->d_name, "");
        free(entries[i]);
    }
    if (count >= 0) free(entries);
}

static void complete_scenarios(struct completion *to) {
    keep_list(to);
    for (int i = 0; i < LB_SCENARIOS; i++)
        offer(to, lb_scenario_name((enum lb_scenario)i), lb_scenario_summary((enum lb_scenario)i));
}

static void offer_choices(struct completion *to, const struct lb_option *option) {
    for (const char *choice = option->choices; choice && *choice;) {
        char word[60];
        size_t length = strcspn(choice, ",");
        snprintf(word, sizeof word, "%.*s", (int)length, choice);
        offer(to, word, "");
        choice += length + (choice[length] == ',');
    }
    if (option->type != LB_OPT_BOOL && option->type != LB_OPT_BOOL8) return;
    offer(to, "yes", "");
    offer(to, "no", "");
}

/* Offers "section.key=" for each key, and once a key is complete, its values. */
static void offer_keys(const struct completion *to, const char *section,
                       const struct lb_option *keys) {
    for (; keys && keys->name; keys++) {
        char key[100];
        int length = snprintf(key, sizeof key, "%s.%s=", section, keys->name);
        struct completion value = *to;
        if (strncmp(to->typed + to->kept, key, (size_t)length) == 0) {
            value.kept += (size_t)length;
            offer_choices(&value, keys);
        } else {
            offer(to, key, keys->help);
        }
    }
}

void complete_keys(struct completion *to) {
    for (const struct section *section = sections(); section->name; section++)
        offer_keys(to, section->name, section->keys);
    for (int i = 0; registry_backends()[i]; i++)
        offer_keys(to, registry_backends()[i]->name, lb_backend_options(registry_backends()[i]));
    for (int i = 0; registry_locks()[i]; i++) {
        if (!lb_unavailable(registry_locks()[i]->backend))
            offer_keys(to, registry_locks()[i]->name, registry_locks()[i]->algorithm->options);
    }
}

static void offer_workloads(const struct completion *to) {
    struct workload_list list = {0};
    struct lb_err err = {0};
    char folder[PATH_MAX];
    if (home_path("workloads", folder, sizeof folder, &err)) return;
    if (workloads_find(folder, &list, &err) == 0) {
        for (int i = 0; i < list.count; i++) offer(to, list.item[i].name, list.item[i].summary);
    }
    workloads_done(&list);
}

static void offer_files(struct completion *to) {
    fputs(":files\n", to->out);
}

void complete_check(struct completion *to) {
    complete_selection(to);
    offer_files(to);
}

static void complete_workloads(struct completion *to) {
    offer_workloads(to);
    offer_files(to);
}

static void complete_names(struct completion *to) {
    complete_locks(to);
    offer_backends(to);
    offer_workloads(to);
}

/* An operand whose row has no completion is a file: a saved run. */
static void offer_value(struct completion *to, const struct lb_option *option) {
    if (option->type->complete)
        option->type->complete(to);
    else if (option->type == ARG_PATH || strspn(option->name, "-") == strlen(option->name))
        offer_files(to);
    else
        offer_choices(to, option);
}

static void offer_commands(const struct completion *to) {
    for (int i = 0; commands[i]; i++) offer(to, commands[i]->name, commands[i]->summary);
}

static void offer_options(const struct completion *to, const struct command *command) {
    for (const struct arg *arg = command->args; arg->option.name; arg++)
        if (arg->option.help) offer_parts(to, "--", arg->option.name, "", arg->option.help);
    offer(to, "--help", "what the command does, and its options");
}

static bool is_behind_dashes(int count, char *const *words) {
    for (int i = 1; i + 1 < count; i++)
        if (strcmp(words[i], "--") == 0) return true;
    return false;
}

/* The row of the option that the last word gives a value to ("--name=value", or "--name value"), or else
 * the row of operands. */
static const struct arg *arg_of_word(const struct command *command, int count, char *const *words,
                                     struct completion *to) {
    const char *word = to->typed, *equals = strchr(word, '='), *before = words[count - 2];
    const struct arg *other = args_find(command, "---", 3);
    if (other && is_behind_dashes(count, words)) return other;
    if (strncmp(word, "--", 2) == 0 && equals) {
        to->kept = (size_t)(equals + 1 - word);
        return args_find(command, word + 2, (size_t)(equals - word - 2));
    }
    bool option = strncmp(before, "--", 2) == 0 && before[2];
    const struct arg *arg = option ? args_find(command, before + 2, strlen(before + 2)) : NULL;
    return arg && arg->value ? arg : args_find(command, "", 0);
}

void complete_words(int count, char *const *words, FILE *out) {
    struct completion to = {.out = out, .typed = count > 0 ? words[count - 1] : ""};
    struct lb_err err = {0};
    if (count <= 1 || (count == 2 && strcmp(words[0], "help") == 0)) {
        offer_commands(&to);
        if (count > 1) return;
        offer(&to, "help", "what a command does, and its options");
        offer(&to, "--help", "the commands");
        offer(&to, "--version", "version, commit and libraries");
        return;
    }
    const struct command *command = command_find(words[0], &err);
    if (!command) return;
    const struct arg *arg = arg_of_word(command, count, words, &to);
    bool operand = !arg || !*arg->option.name;
    if (operand && *to.typed == '-' && !to.kept)
        offer_options(&to, command);
    else if (arg)
        offer_value(&to, &arg->option);
}

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
