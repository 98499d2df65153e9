/* args: see args.h. */
#include "bench/cli/args.h"

#include <stdlib.h>
#include <string.h>

#include "bench/base/nearest.h"

void args_init(struct args *args, int argc, char **argv, const struct args_option *options) {
    *args = (struct args){.argc = argc, .argv = argv, .options = options, .next = 1};
}

static int find(const struct args_option *options, const char *name, size_t len) {
    for (int i = 0; options[i].name; i++) {
        if (strlen(options[i].name) == len && strncmp(options[i].name, name, len) == 0) return i;
    }
    return -1;
}

static int unknown(const struct args *args, const char *word, struct lb_err *err) {
    struct nearest nearest;
    char name[64], hint[100], dashed[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 2, "="), word + 2);
    nearest_init(&nearest, name);
    for (int i = 0; args->options[i].name; i++) nearest_offer(&nearest, args->options[i].name);
    if (nearest.best) {
        snprintf(dashed, sizeof dashed, "--%s", nearest.best);
        nearest.best = dashed;
    }
    err_set(err, LB_EXIT_USAGE, "%s: unknown option --%s%s ('lockbench %s --help' shows all)",
            args->argv[0], name, nearest_hint(&nearest, hint, sizeof hint), args->argv[0]);
    return ARGS_WRONG;
}

int args_next(struct args *args, const char **ret_value, struct lb_err *err) {
    if (args->next >= args->argc) return ARGS_END;
    const char *word = args->argv[args->next++];
    if (strcmp(word, "--") == 0 && !args->operands_only) {
        args->operands_only = true;
        return args_next(args, ret_value, err);
    }
    if (args->operands_only || word[0] != '-' || word[1] == '\0') {
        *ret_value = word;
        return ARGS_OPERAND;
    }
    if (strcmp(word, "-h") == 0) word = "--help";
    if (word[1] != '-') {
        err_set(err, LB_EXIT_USAGE, "%s: unknown option %.60s; options are long, like --help",
                args->argv[0], word);
        return ARGS_WRONG;
    }
    size_t len = strcspn(word + 2, "=");
    int index = find(args->options, word + 2, len);
    if (index < 0) return unknown(args, word, err);
    const struct args_option *option = &args->options[index];
    const char *value = word[2 + len] ? word + 2 + len + 1 : NULL;
    if (value && !option->value) {
        err_set(err, LB_EXIT_USAGE, "%s: --%s takes no value", args->argv[0], option->name);
        return ARGS_WRONG;
    }
    if (!value && option->value) {
        /* "--out --json" is a forgotten value rather than a folder of that name; "--out=--json" is
         * not. */
        if (args->next < args->argc && strncmp(args->argv[args->next], "--", 2) != 0) {
            value = args->argv[args->next++];
        } else {
            err_set(err, LB_EXIT_USAGE, "%s: --%s needs a value: --%s %s", args->argv[0],
                    option->name, option->name, option->value);
            return ARGS_WRONG;
        }
    }
    *ret_value = value;
    return index;
}

void args_help(const char *usage, const char *about, const struct args_option *options, FILE *out) {
    fprintf(out, "usage: lockbench %s\n\n%s\n", usage, about);
    if (options->name) fprintf(out, "\noptions:\n");
    for (const struct args_option *option = options; option->name; option++) {
        char left[64];
        snprintf(left, sizeof left, "--%s%s%s", option->name, option->value ? " " : "",
                 option->value ? option->value : "");
        fprintf(out, "  %-26s %s%s\n", left,
                strlen(left) > 26 ? "\n                             " : "", option->help);
    }
}

int args_fail(const struct lb_err *err) {
    fprintf(stderr, "lockbench: %s\n", err->text);
    if (getenv("LOCKBENCH_DEBUG")) fprintf(stderr, "  (%s:%d)\n", err->file, err->line);
    return err->code;
}
