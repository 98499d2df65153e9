/* workfile: see workfile.h. */
#include "bench/workload/workfile.h"

#include <ctype.h>
#include <errno.h>
#include <ini.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "bench/workload/text.h"

#define LINE_MAX_BYTES 4096
#define SECTION_MAX_LEN 48 /* libinih cuts longer ones without a word */

struct reading {
    const char *path;
    FILE *file;
    char line[LINE_MAX_BYTES + 1]; /* the current one, cleaned */
    int line_number;
    bool stopped; /* err is set, or the file has ended */
    struct arena *arena;
    struct settings *settings;
    struct lb_err *err;
};

/* Ends the reading with an error; NULL, which is how a reader tells libinih that there is no
 * more. */
static char *stop(struct reading *reading, const char *why) {
    err_set(reading->err, LB_EXIT_USAGE, "%s:%d: %s", reading->path, reading->line_number, why);
    reading->stopped = true;
    return NULL;
}

/* Cuts the comment, the line's end and the blanks around. */
static void clean(char *line) {
    char *from = line;
    if (strncmp(from, "\xef\xbb\xbf", 3) == 0) from += 3; /* a byte order mark */
    from += strspn(from, " \t\r\n");
    for (char *at = from; *at; at++) {
        bool starts = at == from || isblank((unsigned char)at[-1]);
        if (starts && (*at == ';' || *at == '#')) {
            *at = '\0';
            break;
        }
    }
    text_trim(from, strlen(from), line, strlen(from) + 1);
}

/* The next line as it is, without its end. Not getline: a device may have no line's end at all. 0
 * at the end of the file, -1 when the reading was stopped. */
static int raw_line(struct reading *reading) {
    size_t len = 0;
    int c = getc(reading->file);
    if (c == EOF) return 0;
    reading->line_number++;
    for (; c != EOF && c != '\n'; c = getc(reading->file)) {
        if ((c < 0x20 && !isspace(c)) || c == 0x7f) {
            stop(reading, "a control character: this is not a workload file");
            return -1;
        }
        if (len == LINE_MAX_BYTES) {
            stop(reading, "the line is longer than 4096 characters");
            return -1;
        }
        reading->line[len++] = (char)c;
    }
    reading->line[len] = '\0';
    return 1;
}

/* libinih's reader: one line a call, never more than it has room for. When a line is too long it is
 * given the key alone; the handler takes the value from our own copy in any case. */
static char *next_line(char *out, int size, void *context) {
    struct reading *reading = context;
    if (reading->stopped) return NULL;
    errno = 0;
    int got = raw_line(reading);
    if (ferror(reading->file))
        err_set(reading->err, LB_EXIT_USAGE, "%s: %s", reading->path, strerror(errno));
    if (got <= 0 || reading->err->code) {
        reading->stopped = true;
        return NULL;
    }
    char *line = reading->line;
    clean(line);
    size_t used = strlen(line);
    if (line[0] == '[') {
        char *end = strchr(line, ']');
        if (!end || end[1] || end == line + 1 || used > SECTION_MAX_LEN) {
            return stop(reading, "a section is written [name], alone on its line");
        }
    }
    if (used + 3 > (size_t)size) {
        used = strcspn(line, "=:");
        if (!line[used] || used + 4 > (size_t)size) {
            return stop(reading, "expected [section], key = value, or a comment after ; or #");
        }
        used++;
    }
    memcpy(out, line, used);
    memcpy(out + used, "\n", 2);
    return out;
}

static int take(void *context, const char *section, const char *key, const char *value) {
    struct reading *reading = context;
    (void)value;
    if (reading->stopped) return 1;
    if (section[0] == '\0') {
        stop(reading, "a key before the first [section]");
        return 1;
    }
    for (int i = 0; i < reading->settings->count; i++) {
        const struct setting *old = &reading->settings->item[i];
        if (strcmp(old->section, section) != 0 || strcmp(old->key, key) != 0) continue;
        char why[160];
        snprintf(why, sizeof why, "%.48s.%.48s stands already in line %d; remove one", section, key,
                 old->line);
        stop(reading, why);
        return 1;
    }
    const char *rest = strpbrk(reading->line, "=:");
    char whole[LINE_MAX_BYTES + 1];
    text_trim(rest + 1, strlen(rest + 1), whole, sizeof whole);
    struct setting setting = {section, key, whole, reading->path, reading->line_number};
    if (settings_add(reading->settings, reading->arena, &setting, reading->err))
        reading->stopped = true;
    return 1;
}

int workfile_read(const char *path, struct arena *arena, struct settings *settings,
                  struct lb_err *err) {
    struct reading reading = {.path = path, .arena = arena, .settings = settings, .err = err};
    int wrong_line = 0;
    reading.file = fopen(path, "re");
    if (!reading.file) {
        err_set(err, LB_EXIT_USAGE, "%s: %s", path, strerror(errno));
        goto out;
    }
    wrong_line = ini_parse_stream(next_line, &reading, take, &reading);
    /* libinih goes on after a line that it can't read, so an error of ours may lie further down. */
    if (wrong_line > 0 && (!err->code || wrong_line < reading.line_number)) {
        err->code = 0;
        err_set(err, LB_EXIT_USAGE,
                "%s:%d: expected [section], key = value, or a comment after ; or #", path,
                wrong_line);
    }
    if (wrong_line < 0) err_set(err, LB_EXIT_MACHINE, "%s: out of memory", path);
out:
    if (reading.file) fclose(reading.file);
    return err->code ? -1 : 0;
}

int settings_add(struct settings *settings, struct arena *arena, const struct setting *setting,
                 struct lb_err *err) {
    if (settings->count == settings->room) {
        int room = settings->room ? settings->room * 2 : 32;
        struct setting *item = arena_alloc(arena, sizeof *item * (size_t)room);
        if (!item) return err_set(err, LB_EXIT_MACHINE, "out of memory");
        if (settings->count) memcpy(item, settings->item, sizeof *item * (size_t)settings->count);
        settings->item = item;
        settings->room = room;
    }
    struct setting copy = {
        .section = arena_text(arena, setting->section),
        .key = arena_text(arena, setting->key),
        .value = arena_text(arena, setting->value),
        .file = arena_text(arena, setting->file),
        .line = setting->line,
    };
    if (!copy.section || !copy.key || !copy.value || (setting->file && !copy.file)) {
        return err_set(err, LB_EXIT_MACHINE, "out of memory");
    }
    settings->item[settings->count++] = copy;
    return 0;
}

char *setting_place(const struct setting *setting, char *text, size_t size) {
    if (setting->line == 0) {
        snprintf(text, size, "--set %.48s.%.48s", setting->section, setting->key);
    } else {
        snprintf(text, size, "%.120s:%d: %.48s.%.48s", setting->file, setting->line,
                 setting->section, setting->key);
    }
    return text;
}
