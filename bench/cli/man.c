/* man: see man.h. Texts of the tables have `code`, which is bold here; "-" stays a hyphen that can be
 * copied. */
#define _GNU_SOURCE
#include "bench/cli/man.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bench/cli/cli.h"
#include "bench/cli/exit_codes.h"

struct fact {
    const char *name, *text;
};

static const struct fact files[] = {
    {"results/TIME-NAME/", "A run: run.json, what each stage measured, and its page report.html."},
    {"results/latest", "The newest run."},
    {"PREFIX/share/lockbench/workloads/", "The workloads that can be named."},
    {"PREFIX/share/lockbench/compose/local/", "The scripts that start the servers."},
    {NULL, NULL},
};

static const struct fact variables[] = {
    {"LOCKBENCH_HOME",
     "The folder that holds workloads/ and compose/, instead of the program's own."},
    {"LOCKBENCH_URL_REDIS, LOCKBENCH_URL_...",
     "A backend's URL, as `--url redis=` has it; nobody else sees its password."},
    {"TMPDIR", "Where the folders of started servers are made, instead of /tmp."},
    {"NO_COLOR", "If set, nothing is coloured."},
    {"LOCKBENCH_DEBUG", "If set, an error is followed by its place in the source."},
    {"LOCKBENCH_COMMIT", "What was measured, for `lockbench history --append`."},
    {NULL, NULL},
};

/* One character of running text. line_start: a full stop there would be a request to roff. */
static void put_char(char c, bool line_start, FILE *out) {
    static const struct {
        char c;
        const char *roff;
    } special[] = {{'\\', "\\e"}, {'-', "\\-"}, {'\'', "\\(aq"}, {'^', "\\(ha"}, {'~', "\\(ti"}};
    if (line_start && (c == '.' || c == '\'')) fputs("\\&", out);
    for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
        if (special[i].c != c) continue;
        fputs(special[i].roff, out);
        return;
    }
    fputc(c, out);
}

/* Writes text as roff, with a newline at the end. Blanks at the start of a line would break the
 * line, so they are left out. */
static void put_text(const char *text, FILE *out) {
    bool code = false, line_start = true;
    for (; *text; text++) {
        if (line_start && *text == ' ') continue;
        if (*text == '`') {
            code = !code;
            fputs(code ? "\\fB" : "\\fR", out);
        } else {
            put_char(*text, line_start, out);
        }
        line_start = *text == '\n';
    }
    fputs(line_start ? "" : "\n", out);
}

/* Writes lines as they are, in a block. */
static void put_lines(const char *text, FILE *out) {
    fputs(".nf\n", out);
    for (bool line_start = true; *text; line_start = *text++ == '\n')
        put_char(*text, line_start, out);
    fputs(".fi\n", out);
}

/* Writes a name in bold and its description. */
static void put_item(const char *name, const char *value, FILE *out) {
    fputs(".TP\n\\fB", out);
    for (const char *c = name; *c; c++) put_char(*c, false, out);
    fputs("\\fR", out);
    if (!value) {
        fputc('\n', out);
        return;
    }
    fputs(" \\fI", out);
    for (const char *c = value; *c; c++) put_char(*c, false, out);
    fputs("\\fR\n", out);
}

static void put_facts(const char *section, const struct fact *fact, FILE *out) {
    fprintf(out, ".SH %s\n", section);
    for (; fact->name; fact++) {
        put_item(fact->name, NULL, out);
        put_text(fact->text, out);
    }
}

/* Names and commands are never hyphenated. */
static void put_head(const char *name, const char *summary, FILE *out) {
    fputs(".TH ", out);
    for (const char *c = name; *c; c++) fputc(*c >= 'a' && *c <= 'z' ? *c - 32 : *c, out);
    fprintf(out, " 1 \"%s\" \"lockbench %s\" \"lockbench\"\n.nh\n.ad l\n.SH NAME\n%s \\- ",
            version_date(), LOCKBENCH_VERSION, name);
    put_text(summary, out);
    fputs(".SH SYNOPSIS\n", out);
}

static void put_exit_codes(FILE *out) {
    char number[16];
    fputs(".SH EXIT STATUS\n", out);
    for (const struct exit_code *exit = exit_codes; exit->meaning; exit++) {
        snprintf(number, sizeof number, "%d", exit->code);
        put_item(number, NULL, out);
        put_text(exit->meaning, out);
    }
}

static void put_options(const struct command *command, FILE *out) {
    fputs(".SH OPTIONS\n", out);
    for (const struct arg *arg = command->args; arg->option.name; arg++) {
        const struct lb_option *option = &arg->option;
        char name[64];
        if (!option->help) continue;
        snprintf(name, sizeof name, "--%s", option->name);
        put_item(name, arg->value, out);
        put_text(option->help, out);
        if (option->def) {
            fputs("Default: ", out);
            put_text(option->def, out);
        }
    }
    put_item("--help", NULL, out);
    put_text("What the command does, and its options.", out);
}

static void put_examples(const struct example *example, FILE *out) {
    if (!example) return;
    fputs(".SH EXAMPLES\n", out);
    for (; example->line; example++) {
        put_item(example->line, NULL, out);
        put_text(example->about, out);
    }
}

static int put_more(const struct command *command, FILE *out, struct lb_err *err) {
    char *text = NULL;
    size_t size;
    FILE *memory = open_memstream(&text, &size);
    if (!memory) return err_set(err, LB_EXIT_MACHINE, "out of memory");
    command->more_help(memory);
    if (fclose(memory) != 0 || !text) {
        free(text);
        return err_set(err, LB_EXIT_MACHINE, "out of memory");
    }
    fputs(".SH DETAILS\n", out);
    put_lines(text + strspn(text, "\n"), out);
    free(text);
    return 0;
}

static int put_command(const void *page, FILE *out, struct lb_err *err) {
    const struct command *command = page;
    char name[40];
    snprintf(name, sizeof name, "lockbench-%s", command->name);
    put_head(name, command->summary, out);
    fputs(".nf\n", out);
    for (const char *line = command->usage; *line; line += *line == '\n') {
        size_t length = strcspn(line += strspn(line, " "), "\n");
        char usage[300];
        bool named = strncmp(line, "lockbench ", 10) == 0;
        snprintf(usage, sizeof usage, "`lockbench` %.*s", (int)length - (named ? 10 : 0),
                 line + (named ? 10 : 0));
        put_text(usage, out);
        line += length;
    }
    fputs(".fi\n.SH DESCRIPTION\n", out);
    put_text(command->about, out);
    put_options(command, out);
    if (command->more_help && put_more(command, out, err)) return -1;
    put_exit_codes(out);
    put_examples(command->examples, out);
    fputs(".SH SEE ALSO\n.BR lockbench (1)\n", out);
    return 0;
}

static int put_overview(const void *unused, FILE *out, struct lb_err *err) {
    (void)unused, (void)err;
    put_head("lockbench", "which distributed lock to use, and whether it is really a lock", out);
    fputs("\\fBlockbench\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n.SH DESCRIPTION\n", out);
    put_text("Drives real clients against real servers with many lock algorithms, measures each\n"
             "acquire, handoff and release, checks mutual exclusion while it measures, and writes\n"
             "one report to decide from.\n",
             out);
    fputs(".SH COMMANDS\n", out);
    for (int i = 0; commands[i]; i++) {
        fprintf(out, ".TP\n.BR lockbench\\-%s (1)\n", commands[i]->name);
        put_text(commands[i]->summary, out);
    }
    put_item("lockbench help", "COMMAND", out);
    put_text("What a command does, and its options.", out);
    put_item("lockbench --version", NULL, out);
    put_text("The version, the commit, and the libraries that the program is linked with.", out);
    put_exit_codes(out);
    put_facts("FILES", files, out);
    put_facts("ENVIRONMENT", variables, out);
    for (int i = 0; commands[i]; i++) {
        if (strcmp(commands[i]->name, "run") == 0) put_examples(commands[i]->examples, out);
    }
    return 0;
}

static int put_program(const void *page, FILE *out, struct lb_err *err) {
    const struct man_program *program = page;
    (void)err;
    put_head(program->name, program->summary, out);
    put_lines(program->synopsis, out);
    fputs(".SH DESCRIPTION\n", out);
    put_text(program->about, out);
    put_exit_codes(out);
    put_examples(program->examples, out);
    fputs(".SH SEE ALSO\n", out);
    for (const char *const *name = program->see_also; *name; name++) {
        fputs(".BR ", out);
        for (const char *c = *name; *c; c++) put_char(*c, false, out);
        fprintf(out, " (1)%s\n", name[1] ? "," : "");
    }
    return 0;
}

/* put: writes the page. */
static int write_man_page(const char *folder, const char *name, const void *page,
                          int (*put)(const void *page, FILE *out, struct lb_err *err),
                          struct lb_err *err) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s.1", folder, name);
    FILE *out = fopen(path, "we");
    if (!out) return err_set(err, LB_EXIT_MACHINE, "%s: %s", path, strerror(errno));
    int result = put(page, out, err);
    if ((ferror(out) | fclose(out)) && result == 0)
        return err_set(err, LB_EXIT_MACHINE, "%s: a write failed", path);
    return result;
}

int man_write(const char *folder, struct lb_err *err) {
    if (write_man_page(folder, "lockbench", NULL, put_overview, err)) return -1;
    for (int i = 0; commands[i]; i++) {
        char name[40];
        snprintf(name, sizeof name, "lockbench-%s", commands[i]->name);
        if (write_man_page(folder, name, commands[i], put_command, err)) return -1;
    }
    return 0;
}

int man_write_program(const char *folder, const struct man_program *program, struct lb_err *err) {
    return write_man_page(folder, program->name, program, put_program, err);
}
