/* args: see args.h. */
#include "bench/cli/args.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/nearest.h"
#include "bench/base/output.h"
#include "bench/base/process.h"
#include "bench/option/text.h"
#include "bench/workload/sections.h"
#include "report/compare/compare.h"
#include "report/doc/screen.h"

/* ---- the types that only arguments have ---- */

char *arg_list_join(const struct arg_list *list, struct arena *arena, struct lb_err *err) {
    size_t size = 1;
    for (int i = 0; i < list->count; i++) size += strlen(list->item[i]) + 1;
    char *joined = arena_alloc(arena, size);
    if (!joined) err_set(err, LB_EXIT_MACHINE, "out of memory");
    for (int i = 0; joined && i < list->count; i++) {
        if (i > 0) strcat(joined, ",");
        strcat(joined, list->item[i]);
    }
    return joined;
}

int arg_list_add(struct arg_list *list, const char *text, struct arena *arena, struct lb_err *err) {
    const char **item = arena_alloc(arena, sizeof *item * (size_t)(list->count + 1));
    if (!item) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    if (list->count > 0) memcpy(item, list->item, sizeof *item * (size_t)list->count);
    item[list->count] = arena_text(arena, text);
    if (!item[list->count]) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    *list = (struct arg_list){item, list->count + 1};
    return 0;
}

static int arg_read_list(const struct option_into *into, const char *text, struct lb_err *err) {
    struct arg_list *list = into->at;
    if (into->option->max > 0 && list->count >= (int)into->option->max)
        return err_set(err, LB_EXIT_USAGE, "at most %.0f", into->option->max);
    return arg_list_add(list, text, into->arena, err);
}

static int read_flag(const struct option_into *into, const char *text, struct lb_err *err) {
    (void)text, (void)err;
    *(bool *)into->at = true;
    return 0;
}

static int read_pick(const struct option_into *into, const char *text, struct lb_err *err) {
    (void)text, (void)err;
    unsigned picked = (unsigned)into->option->min;
    memcpy(into->at, &picked, sizeof picked);
    return 0;
}

static int read_path(const struct option_into *into, const char *text, struct lb_err *err) {
    if (!*text) return err_set(err, LB_EXIT_USAGE, "a name is missing");
    return option_read_text(into, text, err);
}

const struct lb_option_type arg_type_flag = {.bytes = sizeof(bool), .read = read_flag};
const struct lb_option_type arg_type_pick = {.bytes = sizeof(unsigned), .read = read_pick};
const struct lb_option_type arg_type_path = {
    .bytes = sizeof(char *),
    .read = read_path,
    .text = option_format_text,
    .words = "the name of a file or folder",
};
const struct lb_option_type arg_type_list = {
    .bytes = sizeof(struct arg_list),
    .read = arg_read_list,
    .words = "one value each time",
};

#define RATE_WORDS "a number a second: 40/s"

/* The key of the workload that an ARG_KEY sets; *ret_value: what its .choices have behind the "=". */
static const struct lb_option *key_of(const struct lb_option *option, const char **ret_value) {
    char section[40], key[40];
    sscanf(option->choices, "%39[^.].%39[^=]", section, key);
    *ret_value = strchr(option->choices, '=') + 1;
    return options_find(section_find(section)->keys, key);
}

static int read_key(const struct option_into *into, const char *text, struct lb_err *err) {
    char set[300];
    const char *before;
    const struct lb_option *option = into->option, *key = key_of(option, &before);
    struct plan *scratch = arena_alloc(into->arena, sizeof *scratch);
    if (!scratch) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    if (snprintf(set, sizeof set, "%s%s", option->choices, text) >= (int)sizeof set)
        return err_set(err, LB_EXIT_USAGE, "'%.40s...' is too long", text);
    if (option_read(key, scratch, set + (before - option->choices), into->arena, err)) return -1;
    return arg_list_add(into->at, set, into->arena, err);
}

static void key_allowed(const struct lb_option *option, char *text, size_t size) {
    const char *before;
    const struct lb_option *key = key_of(option, &before);
    if (*before)
        snprintf(text, size, RATE_WORDS);
    else
        option_allowed(key, text, size);
}

const struct lb_option_type arg_type_key = {
    .bytes = sizeof(struct arg_list), .read = read_key, .allowed = key_allowed};

static int read_rate(const struct option_into *into, const char *text, struct lb_err *err) {
    char number[40];
    const char *slash = strchr(text, '/');
    if ((slash && strcmp(slash, "/s") != 0) ||
        text_trim(text, strcspn(text, "/"), number, sizeof number) != 0)
        return err_set(err, LB_EXIT_USAGE, "'%.40s' is not a rate", text);
    return text_real(number, into->option->min, into->option->max, into->at, err);
}

const struct lb_option_type arg_type_rate = {
    .bytes = sizeof(double), .read = read_rate, .words = RATE_WORDS};

/* Adds the figure with this name. 0, or -1 with err. */
static int add_metric(uint32_t *choice, const char *name, size_t length, struct lb_err *err) {
    struct nearest nearest;
    char hint[64], word[41];
    snprintf(word, sizeof word, "%.*s", (int)length, name);
    nearest_init(&nearest, word);
    for (int m = 0; m < compare_metric_count(); m++) {
        const char *known = compare_metric(m)->compared;
        if (strlen(known) == length && strncmp(name, known, length) == 0) {
            *choice = choice_with(*choice, m);
            return 0;
        }
        nearest_offer(&nearest, known);
    }
    return err_set(err, LB_EXIT_USAGE, "no metric '%s'%s", word,
                   nearest_hint(&nearest, hint, sizeof hint));
}

static int read_metrics(const struct option_into *into, const char *text, struct lb_err *err) {
    uint32_t *chosen = into->at, choice = 0;
    if (*chosen) return err_set(err, LB_EXIT_USAGE, "it is given twice: name all in one list");
    for (const char *name = text;; name++) {
        size_t length = strcspn(name, ",");
        if (add_metric(&choice, name, length, err) != 0) return -1;
        name += length;
        if (!*name) break;
    }
    *chosen = choice;
    return 0;
}

const struct lb_option_type arg_type_metrics = {
    .bytes = sizeof(uint32_t),
    .read = read_metrics,
    .words = "throughput, acquire_p50, ..., as JSON names them, with commas between",
};

/* ---- reading ---- */

struct reader {
    const struct command *command;
    const struct args *args;
    void *values;
    int next;
    /* The row that takes an operand: "" before a "--", "--" after it. */
    const char *dashes;
    const struct arg *picked; /* the last option that shares its member with others */
};

static const struct arg *args_find(const struct command *command, const char *name, size_t len) {
    for (const struct arg *arg = command->args; arg->option.name; arg++) {
        if (strlen(arg->option.name) == len && strncmp(arg->option.name, name, len) == 0)
            return arg;
    }
    return NULL;
}

/* Of its short form; 0 = it has none. */
static char letter_of(const struct arg *arg) {
    return arg->value && arg->value[0] == '-' ? arg->value[1] : '\0';
}

static const char *value_of(const struct arg *arg) {
    return arg->value + (letter_of(arg) ? strlen("-x ") : 0);
}

/* The option "-c". */
static const struct arg *find_letter(const struct command *command, char letter) {
    for (const struct arg *arg = command->args; arg->option.name; arg++)
        if (letter_of(arg) && letter_of(arg) == letter) return arg;
    return NULL;
}

static int set_arg(const struct reader *reader, const struct arg *arg, const char *text,
                   struct lb_err *err) {
    char place[100];
    bool operand = strspn(arg->option.name, "-") == strlen(arg->option.name);
    snprintf(place, sizeof place, "%s%s%s", reader->command->name, operand ? "" : ": --",
             operand ? "" : arg->option.name);
    return option_set(&arg->option, reader->values, text ? text : "", place, reader->args->arena,
                      err);
}

static int read_operand(struct reader *reader, const char *word, struct lb_err *err) {
    const char *command = reader->command->name;
    const struct arg *arg = args_find(reader->command, reader->dashes, strlen(reader->dashes));
    if (!arg) arg = args_find(reader->command, "", 0);
    if (!arg)
        return err_set(err, LB_EXIT_USAGE, "%s: takes no names, but got '%.60s'", command, word);
    const char *const *before = option_in(&arg->option, reader->values);
    if (arg->option.type->read == option_read_text && *before)
        return err_set(err, LB_EXIT_USAGE, "%s: one %s at a time, not '%.60s' and '%.60s'", command,
                       arg->value, *before, word);
    return set_arg(reader, arg, word, err);
}

/* "section.key" of a workload's key of this name, if the command takes such keys; NULL if not. */
static const char *workload_key(const struct command *command, const char *name, char *text,
                                size_t size) {
    if (!args_find(command, "set", 3)) return NULL;
    for (const struct section *section = sections(); section->name; section++) {
        if (!options_find(section->keys, name)) continue;
        snprintf(text, size, "%s.%s", section->name, name);
        return text;
    }
    return NULL;
}

static int unknown_option(const struct reader *reader, const char *word, size_t len,
                          struct lb_err *err) {
    const char *command = reader->command->name;
    struct nearest nearest;
    char name[64], hint[100], dashed[64], key[96];
    snprintf(name, sizeof name, "%.*s", (int)len, word + 2);
    if (workload_key(reader->command, name, key, sizeof key))
        return err_set(err, LB_EXIT_USAGE,
                       "%s: unknown option --%s, but the workload has such a key: --set %s=VALUE",
                       command, name, key);
    nearest_init(&nearest, name);
    nearest_offer(&nearest, "help");
    for (const struct arg *arg = reader->command->args; arg->option.name; arg++) {
        if (arg->option.help) nearest_offer(&nearest, arg->option.name);
    }
    snprintf(dashed, sizeof dashed, "--%.61s", nearest.best);
    if (*nearest.best) memcpy(nearest.best, dashed, sizeof dashed);
    return err_set(err, LB_EXIT_USAGE,
                   "%s: unknown option --%s%s ('lockbench %s --help' shows all)", command, name,
                   nearest_hint(&nearest, hint, sizeof hint), command);
}

/* Two options that set one member contradict each other. */
static int check_pick(struct reader *reader, const struct arg *arg, struct lb_err *err) {
    const struct arg *before = reader->picked;
    if (arg->option.type != ARG_PICK) return 0;
    if (before && before != arg && before->option.offset == arg->option.offset)
        return err_set(err, LB_EXIT_USAGE, "%s: --%s and --%s at once: say one of them",
                       reader->command->name, before->option.name, arg->option.name);
    reader->picked = arg;
    return 0;
}

static int read_option(struct reader *reader, const char *word, struct lb_err *err) {
    const struct args *args = reader->args;
    const char *command = reader->command->name;
    size_t len = word[1] == '-' ? strcspn(word + 2, "=") : 0;
    const struct arg *arg =
        len > 0 ? args_find(reader->command, word + 2, len) : find_letter(reader->command, word[1]);
    if (!arg && word[1] != '-')
        return err_set(err, LB_EXIT_USAGE,
                       "%s: unknown option %.60s ('lockbench %s --help' shows all)", command, word,
                       command);
    if (!arg) return unknown_option(reader, word, len, err);
    const char *name = arg->option.name, *value = word[2 + len] ? word + 2 + len + (len > 0) : NULL;
    if (value && !arg->value)
        return err_set(err, LB_EXIT_USAGE, "%s: --%s takes no value", command, name);
    if (!value && arg->value) {
        /* "--out --json" is more likely a forgotten value than a folder called "--json";
         * "--out=--json" means such a folder. */
        if (reader->next == args->argc || strncmp(args->argv[reader->next], "--", 2) == 0)
            return err_set(err, LB_EXIT_USAGE, "%s: --%s needs a value: --%s %s", command, name,
                           name, value_of(arg));
        value = args->argv[reader->next++];
    }
    return check_pick(reader, arg, err) == 0 ? set_arg(reader, arg, value, err) : -1;
}

/* Reads the arguments into values, which has the command's start and defaults. 0; 1 = --help was
 * given; -1 with err. Texts are copied into the arena. */
static int args_read(const struct command *command, const struct args *args, void *values,
                     struct lb_err *err) {
    struct reader reader = {
        .command = command, .args = args, .values = values, .next = 1, .dashes = ""};
    bool options_end = false;
    while (reader.next < args->argc) {
        const char *word = args->argv[reader.next++];
        /* "-7" may be the name of a key */
        bool negative = word[0] && isdigit((unsigned char)word[1]);
        bool option = word[0] == '-' && word[1] && !negative && !options_end;
        if (strcmp(word, "--") == 0 && !options_end) {
            reader.dashes = "--";
            options_end = !args_find(command, "--", 2);
        } else if (option && (strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0)) {
            return 1;
        } else if (option ? read_option(&reader, word, err) : read_operand(&reader, word, err)) {
            return -1;
        }
    }
    return 0;
}

/* ---- help, and the whole command ---- */

#define HELP_COLUMN 29

static void print_row(const struct screen *screen, const struct arg *arg) {
    const struct lb_option *option = &arg->option;
    char left[64], letter[6] = "";
    if (letter_of(arg)) snprintf(letter, sizeof letter, "-%c, ", letter_of(arg));
    snprintf(left, sizeof left, "%s--%s%s%s", letter, option->name, arg->value ? " " : "",
             arg->value ? value_of(arg) : "");
    screen_say(screen, HELP_COLUMN, TONE_PLAIN, "  %-*s%s%s%s%s", HELP_COLUMN - 2, left,
               strlen(left) < HELP_COLUMN - 2 ? "" : "  ", option->help,
               option->def && *option->def ? "; default " : "", option->def ? option->def : "");
}

void args_help(const struct command *command, FILE *out) {
    static const struct arg help = {{"help", .help = "this text"}, NULL};
    const struct screen screen = screen_of(out, false);
    char usage[300];
    snprintf(usage, sizeof usage, "Usage: lockbench %s\n\n", command->usage);
    screen_lines(&screen, usage);
    screen_lines(&screen, command->about);
    fprintf(out, "\noptions:\n");
    for (const struct arg *arg = command->args; arg->option.name; arg++)
        if (arg->option.help) print_row(&screen, arg);
    print_row(&screen, &help);
    if (command->more_help) command->more_help(&screen);
    if (command->examples) fprintf(out, "\nexamples:\n");
    for (const struct example *example = command->examples; example && example->line; example++) {
        fprintf(out, "  %s\n", example->line);
        screen_say(&screen, 6, TONE_PLAIN, "      %s", example->about);
    }
}

int args_fail(const struct lb_err *err) {
    fprintf(stderr, "lockbench: %s\n", err->text);
    return err->code;
}

static int set_start(const struct command *command, void *values, struct arena *arena,
                     struct lb_err *err) {
    if (command->start) memcpy(values, command->start, command->bytes);
    for (const struct arg *arg = command->args; arg->option.name; arg++) {
        const char *def = arg->option.def;
        if (def && option_read(&arg->option, values, def, arena, err)) return -1;
    }
    return 0;
}

int command_main(const struct command *command, int argc, char **argv) {
    struct lb_err err = {0};
    struct arena arena = {0};
    struct args args = {argc, argv, &arena};
    void *values = arena_alloc(&arena, command->bytes + 1);
    int code = values ? set_start(command, values, &arena, &err)
                      : err_set(&err, LB_EXIT_MACHINE, "out of memory");
    if (code == 0) code = args_read(command, &args, values, &err);
    if (code == 1) {
        args_help(command, stdout);
        code = LB_EXIT_OK;
    } else if (code == 0) {
        crash_always(command->name);
        crash_stack();
        code = command->run(values, &args, &err);
    }
    if (code < 0) code = args_fail(&err);
    arena_done(&arena);
    return code;
}
